"""Common given names and surnames of ten communities of India. Put together by chance, they mean nobody."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Community:
    women: tuple[str, ...]
    men: tuple[str, ...]
    surnames: tuple[str, ...]


def _community(women: str, men: str, surnames: str) -> Community:
    return Community(tuple(women.split()), tuple(men.split()), tuple(surnames.split()))


HINDI = _community(
    "Anjali Kiran Meena Pooja Savita Sunita Usha Vandana",
    "Ashok Dinesh Mukul Prakash Ramesh Umesh Vijay Vinay",
    "Agarwal Chauhan Dubey Gupta Jha Mishra Pandey Rawat Saxena Shukla Singh Srivastava Tiwari Verma Yadav",
)
BENGALI = _community(
    "Aparna Debjani Ishani Moumita Paromita Rituparna Sharmistha Sudeshna",
    "Anirban Arnab Dipankar Kaushik Saurav Sukanta Tapas Tridib",
    "Banerjee Basu Bhattacharya Biswas Bose Chakraborty Chatterjee Das Dutta Ghosh Majumdar Mondal Mukherjee Roy "
    "Sarkar",
)
MARATHI = _community(
    "Archana Ashwini Jayashree Manasi Snehal Sushma Vaishali Varsha",
    "Amol Anant Dattatray Mahesh Nilesh Prashant Sagar Vikas",
    "Bhosale Deshmukh Deshpande Gaikwad Jadhav Joshi Kadam Kulkarni More Patil Pawar Sawant Shinde Thorat Wagh",
)
GUJARATI = _community(
    "Bhavna Daksha Hetal Jignasha Kinjal Nisha Pinal Urvashi",
    "Bharat Chirag Hitesh Jayesh Ketan Mehul Paresh Tushar",
    "Bhatt Chaudhari Dave Desai Gajjar Jani Mehta Panchal Pandya Parmar Patel Rathod Solanki Trivedi Vyas",
)
PUNJABI = _community(
    "Amandeep Gurleen Harpreet Jasleen Manpreet Navneet Rajwinder Simran",
    "Balwinder Gurpreet Harjit Jaspal Kulwant Manjit Paramjit Sukhdev",
    "Bajwa Bedi Brar Dhillon Gill Grewal Khurana Malhotra Mann Randhawa Sandhu Sethi Sidhu Sodhi Walia",
)
TAMIL = _community(
    "Abirami Chitra Eswari Gomathi Kavitha Malathi Revathi Thenmozhi",
    "Anbarasu Elango Ganesan Kathiravan Murugan Saravanan Senthil Velmurugan",
    "Arumugam Chandrasekaran Govindan Kandasamy Krishnan Manickam Natarajan Palaniappan Perumal Rajendran Ramasamy "
    "Sivakumar Subramanian Sundaram Vaidyanathan",
)
TELUGU = _community(
    "Anitha Bhargavi Durga Haritha Lakshmi Padmavathi Sirisha Swapna",
    "Bhaskar Chandu Kishore Madhu Nagaraju Ravi Srinivas Venkatesh",
    "Akula Boddu Chintala Devarapalli Gandham Gorantla Kolli Kommineni Mandava Naidu Nalluri Peddinti Rao Reddy "
    "Yarlagadda",
)
KANNADA = _community(
    "Asha Bhagya Gowri Jyothi Nagamma Pavithra Sowmya Vidya",
    "Basavaraj Chethan Girisha Lokesh Manjunath Nanjunda Raghavendra Shivanna",
    "Acharya Bhat Gowda Hegde Hiremath Kamath Kulal Naik Nayak Pai Patgar Prabhu Shenoy Shetty Urs",
)
MALAYALI = _community(
    "Ancy Bindu Jisha Leena Mini Reena Sheeba Sindhu",
    "Biju Jose Mathew Pradeep Rajeev Sajan Shaji Unni",
    "Antony Chacko George Jacob Joseph Kurian Kuruvilla Menon Nair Nambiar Panicker Pillai Thomas Varghese Warrier",
)
MUSLIM = _community(
    "Afreen Ayesha Farzana Nasreen Rubina Shabnam Shaheen Zarina",
    "Aslam Faisal Imtiaz Nadeem Rafiq Shakeel Tariq Yusuf",
    "Ahmed Ali Ansari Baig Farooqui Hussain Khan Mirza Pathan Qureshi Rizvi Saiyed Shaikh Siddiqui Usmani",
)

COMMUNITIES = (HINDI, BENGALI, MARATHI, GUJARATI, PUNJABI, TAMIL, TELUGU, KANNADA, MALAYALI, MUSLIM)
