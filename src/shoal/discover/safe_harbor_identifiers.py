"""The identifiers of HIPAA Safe Harbor by their letters, and the words that columns of each are called by."""

from __future__ import annotations

IDENTIFIERS = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "dates finer than a year, and ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and licence numbers",
    "L": "vehicle identifiers, licence plates included",
    "M": "device identifiers and serial numbers",
    "N": "web addresses",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "full-face photographs and the like",
    "R": "any other unique number, characteristic or code",
}

NAMED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("E", ("fax",)),
    ("G", ("ssn", "social security", "social security number")),
    ("H", ("mrn", "medical record", "patient id", "patient no", "patient number", "chart no", "chart number", "uhid")),
    ("I", ("beneficiary", "health plan", "medicare", "medicaid", "member id", "subscriber id")),
    ("I", ("insurance id", "insurance no", "insurance number", "policy no", "policy number")),
    ("L", ("vin", "vehicle", "licence plate", "license plate", "number plate", "plate", "registration no")),
    ("K", ("licence", "license", "licence no", "license no", "certificate", "dea", "npi", "driving licence")),
    ("M", ("device", "device id", "serial", "serial no", "serial number", "imei", "imsi", "udi")),
    ("P", ("fingerprint", "fingerprints", "iris", "retina", "voiceprint", "biometric", "biometrics", "faceprint")),
    ("Q", ("photo", "photograph", "picture", "portrait", "selfie", "mugshot", "face image")),
    ("B", ("county", "precinct", "parish", "census tract", "block group", "neighbourhood", "neighborhood", "geocode")),
)
"""By their names alone, whatever their values look like; the first that fits counts."""

BY_KIND = {
    "name": "A",
    "address": "B",
    "place": "B",
    "latitude": "B",
    "longitude": "B",
    "ifsc": "B",
    "phone": "D",
    "email": "F",
    "account": "J",
    "iban": "J",
    "card": "J",
    "mac": "M",
    "url": "N",
    "ipv4": "O",
    "ipv6": "O",
    "aadhaar": "R",
    "pan": "R",
    "gstin": "R",
    "uen": "R",
    "voter_id": "R",
    "passport": "R",
    "nric": "R",
    "username": "R",
}
"""Where a recogniser's kind belongs."""

WIDE_PLACES = ("state", "country", "nation")
"""Places that may stay."""

DATE_NAMES = ("date", "dob", "birth", "birthday", "admitted", "admission", "discharged", "discharge", "died", "death")
PARTS_OF_DATES = ("month", "day", "weekday", "week", "quarter", "time", "timestamp")
