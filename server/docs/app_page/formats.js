// Words, numbers and days in the language of the reader. Money comes in minor units, days as text.

const LANGUAGES = ["en", "de", "nl", "fr", "es"];
export const LANGUAGE_NAMES = { en: "English", de: "Deutsch", nl: "Nederlands", fr: "Français", es: "Español" };

// Gives the language that was asked for, else the first of the browser's that there is.
export function languageOf(asked, preferred) {
  const known = [asked, ...preferred.map((tag) => tag.slice(0, 2).toLowerCase())].filter((each) => LANGUAGES.includes(each));
  return known[0] ?? "en";
}

// Gives how the language is written where the reader lives: en-GB of en, where the browser says so.
export const localeOf = (language, preferred) => preferred.find((tag) => tag.slice(0, 2).toLowerCase() === language) ?? language;

// Writes minor units as decimal text; a number would lose what is beyond its digits.
export function decimal(minor, digits) {
  const figures = String(Math.abs(minor)).padStart(digits + 1, "0");
  const whole = figures.slice(0, figures.length - digits);
  return `${minor < 0 ? "-" : ""}${whole}${digits ? `.${figures.slice(-digits)}` : ""}`;
}

// Writes a price as decimal text, with the parts of a minor unit that it has: "16.48" pence are 0.1648.
export function exactly(price, digits) {
  const [, sign, minor, rest] = /^(-?)(\d+)\.?(\d*)$/.exec(price);
  const whole = decimal(Number(minor), digits);
  return `${sign}${whole}${rest && !digits ? "." : ""}${rest}`;
}

// Gives a function that says a message, with what stands in it in {braces}; a count takes its plural.
export function sayer(words, locale) {
  const plurals = new Intl.PluralRules(locale);
  return (name, values = {}) => {
    const text = words[name] ?? words[`${name}.${plurals.select(values.count ?? 0)}`] ?? words[`${name}.other`] ?? name.split(".").at(-1).replaceAll("_", " ");
    return text.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
  };
}

const minus = (text) => text.replace("-", "−");

// Amounts of the books may be without a currency, as in a column; all others have the code of theirs.
function moneyOf(locale, currency, currencyDisplay) {
  const named = { style: "currency", currency, currencyDisplay };
  const money = new Intl.NumberFormat(locale, named);
  const digits = money.resolvedOptions().maximumFractionDigits;
  const style = currencyDisplay === "code" ? named : {};
  const plain = new Intl.NumberFormat(locale, { ...style, minimumFractionDigits: digits, maximumFractionDigits: digits });
  const exact = new Intl.NumberFormat(locale, { ...style, minimumFractionDigits: digits, maximumFractionDigits: digits + 12 });
  const short = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
  return {
    money: (minor) => minus(money.format(decimal(minor, digits))),
    amount: (minor) => minus(plain.format(decimal(minor, digits))),
    price: (text) => minus(exact.format(exactly(text, digits))),
    short: (minor) => minus(short.format(decimal(minor, digits))),
  };
}

// Days of moments are those of the business, whose time zone is given. Amounts are in its currency;
// `in` gives the same for another one.
export function formatsOf(locale, currency, timeZone) {
  const dayFormat = (options) => new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options });
  const count = new Intl.NumberFormat(locale);
  const rate = new Intl.NumberFormat(locale, { maximumSignificantDigits: 12 });
  const day = dayFormat({ dateStyle: "medium" });
  const dayThere = dayFormat({ dateStyle: "medium", timeZone });
  const momentThere = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone });
  const month = dayFormat({ month: "short" });
  const year = dayFormat({ year: "numeric" });
  const monthYear = dayFormat({ month: "short", year: "numeric" });
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const base = moneyOf(locale, currency, "narrowSymbol");
  const others = { [currency]: base };
  return {
    ...base,
    in: (other = currency) => (others[other] ??= moneyOf(locale, other, "code")),
    rate: (worth, of) => `1 ${of} = ${rate.format(worth)} ${currency}`,
    count: (number) => count.format(number),
    day: (text) => (text.includes("T") ? dayThere : day).format(Date.parse(text)),
    moment: (text) => momentThere.format(Date.parse(text)),
    span: (from, to) => day.formatRange(Date.parse(from), Date.parse(to)),
    month: (text) => month.format(Date.parse(text)),
    year: (text) => year.format(Date.parse(text)),
    monthYear: (text) => monthYear.format(Date.parse(text)),
    time: (milliseconds) => time.format(milliseconds),
  };
}
