// Periods by name, as first and last day. Days are text, as 2026-11-24, and years are the fiscal ones.

export const PERIODS = [
  "twelve-months", "this-month", "last-month", "this-quarter", "last-quarter", "this-year", "last-year", "own",
];

const DAY_MILLISECONDS = 86_400_000;

const numbers = (day) => day.split("-").map(Number);
const text = (time) => new Date(time).toISOString().slice(0, 10);

// Gives the day some days later, or before with a number below zero.
export const plusDays = (day, days) => text(Date.parse(day) + days * DAY_MILLISECONDS);

// Gives the same day of a month some months later, or the last one where that month is shorter.
export function plusMonths(day, months) {
  const [year, month, date] = numbers(day);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return text(Date.UTC(year, month - 1 + months, Math.min(date, last)));
}

const monthStart = (day) => `${day.slice(0, 8)}01`;

// Gives the first day of the fiscal year that a day is in; `yearEnd` tells month and day.
function yearStart(day, yearEnd) {
  const [, month, date] = numbers(yearEnd);
  const endIn = (year) => text(Date.UTC(year, month - 1, Math.min(date, new Date(Date.UTC(year, month, 0)).getUTCDate())));
  const [year] = numbers(day);
  return plusDays(day <= endIn(year) ? endIn(year - 1) : endIn(year), 1);
}

function quarterStart(day, yearEnd) {
  const start = yearStart(day, yearEnd);
  const starts = [9, 6, 3, 0].map((months) => plusMonths(start, months));
  return starts.find((first) => first <= day);
}

// Gives {from, to} of a named period as of a day. What has not ended ends on that day.
export function spanOf({ period, from, to }, today, yearEnd) {
  const month = monthStart(today);
  const year = yearStart(today, yearEnd);
  const quarter = quarterStart(today, yearEnd);
  const before = (start) => plusDays(start, -1);
  switch (period) {
    case "this-month": return { from: month, to: today };
    case "last-month": return { from: plusMonths(month, -1), to: before(month) };
    case "this-quarter": return { from: quarter, to: today };
    case "last-quarter": return { from: quarterStart(before(quarter), yearEnd), to: before(quarter) };
    case "this-year": return { from: year, to: today };
    case "last-year": return { from: yearStart(before(year), yearEnd), to: before(year) };
    case "own": return from && to && from <= to ? { from, to } : { from: from ?? to ?? year, to: from ?? to ?? today };
    default: return { from: plusMonths(month, -11), to: today };
  }
}
