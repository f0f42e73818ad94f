// Noise at the device, in JavaScript: one file, no dependency, for a survey's page or for Node.
// The same as device.py, function by function; see there for what each one does.
"use strict";

const STEPS = 1024;
const BITS = 62n;
const MOST_BUCKETS = 2 ** 20;

function randomBits(bits) {
  const bytes = new Uint8Array(8);
  globalThis.crypto.getRandomValues(bytes);
  let number = 0n;
  for (const byte of bytes) number = (number << 8n) | BigInt(byte);
  return number & ((1n << bits) - 1n);
}

function randomBelow(limit) {
  const bound = BigInt(limit);
  const last = (1n << 62n) - ((1n << 62n) % bound);
  for (;;) {
    const number = randomBits(62n);
    if (number < last) return Number(number % bound);
  }
}

function happens(probability) {
  // to 53 of the 62 bits: a double has no more
  return randomBits(BITS) < (BigInt(Math.floor(probability * 2 ** 53)) << 9n);
}

function strays(probability) {
  // rounded up: it is what protects, and however small, it is never nothing
  return randomBits(BITS) < (BigInt(Math.floor(probability * (1 + 2 ** -50) * 2 ** 53) + 1) << 9n);
}

function checked(epsilon, options, value) {
  if (!(epsilon > 0 && epsilon <= 50)) throw new RangeError("epsilon has to be above 0 and at most 50");
  if (options !== undefined) {
    if (options.length < 2 || new Set(options).size < options.length) {
      throw new RangeError("at least two options, each once");
    }
    if (!options.includes(value)) throw new RangeError("the answer is none of the options");
  }
}

function randomisedResponse(value, options, epsilon) {
  checked(epsilon, options, value);
  return options[told(options.indexOf(value), options.length, epsilon)];
}

function told(place, number, epsilon) {
  if (!strays((number - 1) / (Math.exp(epsilon) + number - 1))) return place;
  const other = randomBelow(number - 1);
  return other < place ? other : other + 1;
}

function unary(value, options, epsilon) {
  checked(epsilon, options, value);
  const other = 1 / (Math.exp(epsilon) + 1);
  return options.map((option) => ((option === value ? happens(0.5) : strays(other)) ? 1 : 0));
}

async function hashed(value, seed, buckets) {
  const text = new TextEncoder().encode(`${seed}\n${value}`);
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", text));
  let number = 0n;
  for (const byte of digest.slice(0, 6)) number = (number << 8n) | BigInt(byte);
  return Number(number % BigInt(buckets));
}

function bucketCount(epsilon) {
  return Math.min(Math.max(2, roundHalfEven(Math.exp(epsilon)) + 1), MOST_BUCKETS);
}

async function localHash(value, epsilon) {
  checked(epsilon);
  const buckets = bucketCount(epsilon);
  const seed = Number(randomBits(48n));
  return { seed, bucket: told(await hashed(value, seed, buckets), buckets, epsilon) };
}

function windowSize(epsilon) {
  return Math.max(1, roundHalfEven(STEPS / Math.exp(epsilon / 2)));
}

function boundedNumber(value, low, high, epsilon) {
  checked(epsilon);
  if (!(low < high)) throw new RangeError("the bounds are two numbers, the smaller one first");
  const share = ((Math.min(Math.max(value, low), high) - low) / (high - low)) * STEPS;
  let start = Math.floor(share);
  if (happens(share - start)) start += 1;
  const inside = windowSize(epsilon);
  if (!strays(STEPS / (inside * Math.exp(epsilon) + STEPS))) return start + randomBelow(inside);
  const outside = randomBelow(STEPS);
  return outside < start ? outside : outside + inside;
}

function roundHalfEven(number) {
  const down = Math.floor(number);
  const rest = number - down;
  if (rest < 0.5) return down;
  if (rest > 0.5) return down + 1;
  return down % 2 === 0 ? down : down + 1;
}

const shoalDevice = { randomisedResponse, unary, localHash, boundedNumber, hashed, bucketCount, windowSize, STEPS };
if (typeof module !== "undefined") module.exports = shoalDevice;
else globalThis.shoalDevice = shoalDevice;
