// Finds in the index that `search_index.py` writes. Nothing here knows the page; the tests call it.

const WORD = /[\p{L}\p{N}_]+/gu;
const MOST_FOUND = 30;
const MOST_PLACES_OF_A_FIELD = 2;
const WEIGHTS = { Guide: 1.3, Operation: 1.2, Page: 1.1, Object: 0.7, Field: 0.6, "Error code": 0.5, Changelog: 0.25 };
const LITTLE = new Set("a an and are as at by can do does for from how i in is it its me my of on or our the to we what when where with your".split(" "));

// Gives up to thirty places, the best first, as {kind, title, address, note}, and what is told above
// them: {places, told}.
function find(index, query) {
  const known = (index.known ??= prepared(index));
  const asked = wordsOf(query);
  if (asked.length === 0) return { places: [], told: "" };
  const meant = asked.map((word) => (understood(known, word) ? word : corrected(known, word)));
  const unknown = asked.filter((_, at) => meant[at] === null);
  const words = meant.filter((word) => word !== null);
  if (words.length === 0) return { places: nearest(known, asked), told: `${nothingFor(unknown)} The nearest:` };
  const places = ranked(known, words);
  const found = `${places.length} found, the best first.`;
  if (unknown.length > 0) return { places, told: `${nothingFor(unknown)} Without it: ${found}` };
  const changed = words.some((word, at) => word !== asked[at]);
  return { places, told: changed ? `Results for “${words.join(" ")}”: ${found}` : found };
}

const nothingFor = (words) => `Nothing found for “${words.join(" ")}”.`;

// Gives the words of a query or title; words of grammar only if there are no others.
function wordsOf(text) {
  const words = [...new Set(text.toLowerCase().match(WORD))];
  const telling = words.filter((word) => !LITTLE.has(word));
  return telling.length > 0 ? telling : words;
}

// Adds to the index what every query needs: stems of words, titles and synonyms.
function prepared(index) {
  const words = Object.entries(index.words).map(([word, pages]) => ({ word, stem: stem(word), pages }));
  const titles = index.pages.map(([, title]) => {
    const parts = wordsOf(title);
    return { parts, stems: parts.map(stem) };
  });
  const synonyms = Object.entries(index.synonyms).map(([phrase, meanings]) => ({
    words: phrase.split(" "),
    stems: phrase.split(" ").map(stem),
    meanings,
  }));
  const vocabulary = new Map(words.map(({ word, pages }) => [word, pages.length]));
  const often = index.pages.length; // Titles and synonyms win over words of texts.
  for (const word of [...titles, ...synonyms].flatMap(({ parts, words }) => parts ?? words)) vocabulary.set(word, often);
  return { index, words, titles, synonyms, vocabulary };
}

// Reduces a word to its stem, which need not be a word: "reconciliation" and "reconciling" are "reconcil".
function stem(word) {
  if (word.length < 4 || /[\d_]/.test(word)) return word;
  let base = word.replace(/ies$/, "y").replace(/(x|ch|sh|ss|z)es$/, "$1").replace(/([^sui])s$/, "$1");
  const long = (shortened, least) => (shortened.length >= least && /[aeiouy]/.test(shortened) ? shortened : null);
  for (const [ending, least] of [["iation", 4], ["ication", 4], ["ation", 4], ["ate", 4], ["ition", 4], ["ing", 3], ["ed", 3], ["ion", 4]]) {
    const rest = base.endsWith(ending) ? long(base.slice(0, -ending.length), least) : null;
    if (rest !== null) {
      base = rest.replace(/([bdgmnprt])\1$/, "$1");
      break;
    }
  }
  return base.length > 3 ? base.replace(/e$/, "").replace(/y$/, "i") : base;
}

// Returns whether a word means something here: a word of the texts, its stem or beginning, or a synonym.
function understood(known, word) {
  const own = stem(word);
  return (
    known.words.some((each) => each.stem === own || likeness(word, each.word) > 0) ||
    known.titles.some(({ parts, stems }) => stems.includes(own) || parts.some((part) => part.startsWith(word))) ||
    known.synonyms.some(({ words, stems }) => stems.includes(own) || words.some((part) => part.startsWith(word))) ||
    Object.keys(known.index.fields).some((name) => likeness(word, name.toLowerCase()) > 0)
  );
}

// Gives the known word that a mistyped one is for: one mistake, or two in seven letters. Else null.
function corrected(known, word) {
  const most = word.length >= 7 ? 2 : word.length >= 4 ? 1 : 0;
  let best = { mistakes: most + 1, often: 0, word: null };
  for (const [each, often] of known.vocabulary) {
    if (Math.abs(each.length - word.length) > most || each.length < 4) continue;
    const mistakes = distance(word, each);
    if (mistakes < best.mistakes || (mistakes === best.mistakes && often > best.often)) best = { mistakes, often, word: each };
  }
  return best.mistakes <= most ? best.word : null;
}

// Counts the letters that are changed, added, left out or exchanged with their neighbour.
function distance(one, other) {
  let [before, row] = [[], [...Array(other.length + 1).keys()]];
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++) {
      const same = one[at - 1] === other[to - 1] ? 0 : 1;
      next[to] = Math.min(row[to] + 1, next[to - 1] + 1, row[to - 1] + same);
      const exchanged = at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      if (exchanged) next[to] = Math.min(next[to], before[to - 2] + 1);
    }
    [before, row] = [row, next];
  }
  return row[other.length];
}

// Gives the places of the word that is most like one of the unknown words; without one, the guides.
function nearest(known, unknown) {
  let best = { share: 0.5, word: null };
  for (const word of unknown) {
    const pairs = pairsOf(word);
    for (const each of known.vocabulary.keys()) {
      const others = pairsOf(each);
      const share = (2 * pairs.filter((pair) => others.includes(pair)).length) / (pairs.length + others.length);
      if (share > best.share) best = { share, word: each };
    }
  }
  if (best.word !== null) return ranked(known, [best.word]);
  const guides = known.index.pages.flatMap(([kind], page) => (kind === "Guide" ? [`${page}`] : []));
  return guides.map((place) => shown(known.index, place));
}

const pairsOf = (word) => [...Array(Math.max(word.length - 1, 0)).keys()].map((at) => word.slice(at, at + 2));

// Gives the places for words that are understood: those with all words first, then by score.
function ranked(known, words) {
  const exact = scoredBest(known, variantsOf(known, words));
  const found = exact.size > 0 ? exact : scoredBest(known, begunBy(known, words));
  const inOrder = [...found].sort(
    ([place, one], [next, other]) =>
      other.share - one.share || other.score - one.score || parseInt(place) - parseInt(next),
  );
  const fields = new Map();
  const kept = inOrder.filter(([place]) => {
    const field = place.split("#")[1];
    fields.set(field, (fields.get(field) ?? 0) + 1);
    return field === undefined || fields.get(field) <= MOST_PLACES_OF_A_FIELD;
  });
  return kept.slice(0, MOST_FOUND).map(([place]) => shown(known.index, place));
}

// Scores each place by the variant that suits it best: {share, score}.
function scoredBest(known, variants) {
  const found = new Map();
  for (const [variant, weight] of variants) {
    for (const [place, { share, score }] of scored(known, variant)) {
      const before = found.get(place) ?? { share: 0, score: 0 };
      if (share > before.share || (share === before.share && score * weight > before.score)) {
        found.set(place, { share, score: score * weight });
      }
    }
  }
  return found;
}

// Gives the meanings of each phrase that a query is a part or the beginning of: "feed" and "open b".
function begunBy(known, words) {
  const begun = known.synonyms.filter((phrase) => words.some((word) => phrase.words.some((part) => part.startsWith(word))));
  return begun.flatMap(({ meanings }) => meanings.map((meaning, rank) => [wordsOf(meaning), 1.2 - rank * 0.3]));
}

// Gives the query and, for each phrase that has synonyms, the query with each of them, with weights. The
// longest phrase counts; the first synonym is the best.
function variantsOf(known, words) {
  const stems = words.map(stem);
  const variants = [[words, 1]];
  let longest = 0;
  for (const synonym of [...known.synonyms].sort((one, other) => other.stems.length - one.stems.length)) {
    const { length } = synonym.stems;
    const at = startOf(stems, synonym.stems);
    if (at < 0 || length < longest) continue;
    longest = length;
    synonym.meanings.forEach((meaning, rank) => {
      const rest = [...words.slice(0, at), ...words.slice(at + length)];
      variants.push([[...new Set([...rest, ...wordsOf(meaning)])], 1.2 - rank * 0.3]);
    });
  }
  return variants;
}

// Gives the first place where a list has the items of another one in a row, or -1.
function startOf(list, row) {
  return list.findIndex((_, at) => row.every((item, after) => list[at + after] === item));
}

// Scores each place that has one of the words: {share, score}, where `share` is the part of the words that
// it has. A title counts more than a text, a rare word more than a frequent one.
function scored(known, words) {
  const found = new Map();
  const add = (place, score) => {
    const before = found.get(place) ?? { words: 0, score: 0 };
    found.set(place, { words: before.words + 1, score: before.score + score });
  };
  for (const word of words) for (const [place, score] of placesOf(known, word)) add(place, score);
  const stems = words.map(stem);
  const name = words.join("_");
  for (const [place, each] of found) {
    const [page, field] = place.split("#");
    const { parts, stems: titled } = known.titles[page];
    const [kind, title] = known.index.pages[page];
    each.share = each.words / words.length;
    if (field !== undefined) each.score += (field === name ? 12 : 0) + 1 / title.length; // Customer before CustomerCreate.
    else if (startOf(titled, stems) >= 0) each.score += titled.length === stems.length ? 10 : 5;
    each.score *= WEIGHTS[field === undefined ? kind : "Field"];
    if (kind !== "Object" && field === undefined && parts.join("_") === name) each.score += 25;
  }
  return found;
}

// Gives the places of one word with their scores.
function placesOf(known, word) {
  const { pages, fields } = known.index;
  const own = stem(word);
  const places = new Map();
  const keep = (place, score) => places.set(place, Math.max(score, places.get(place) ?? 0));
  const having = known.words.flatMap((each) => {
    const like = each.stem === own ? Math.max(0.9, likeness(word, each.word)) : likeness(word, each.word);
    return like > 0 ? [[each, like]] : [];
  });
  const rare = 1 - Math.log(new Set(having.flatMap(([each]) => each.pages)).size || 1) / Math.log(pages.length + 1);
  for (const [each, like] of having) for (const page of each.pages) keep(`${page}`, 3 * rare * like);
  known.titles.forEach(({ parts, stems }, page) => {
    const like = Math.max(0, ...parts.map((part, at) => (stems[at] === own ? Math.max(0.9, likeness(word, part)) : likeness(word, part))));
    if (like > 0) keep(`${page}`, 10 * like * (0.6 + 0.4 / parts.length) + 3 * rare);
  });
  for (const [name, having] of Object.entries(fields)) {
    const like = likeness(word, name.toLowerCase());
    if (like > 0) for (const page of having) keep(`${page}#${name}`, 6 * like);
  }
  return places;
}

// Returns how like a word is to a name: the name, its beginning or a part, the beginning of a part, or nothing.
function likeness(word, name) {
  if (name === word) return 1;
  if (name.startsWith(word) && word.length > 1) return 0.6;
  if (!name.includes(`_${word}`)) return 0;
  return `${name}_`.includes(`_${word}_`) ? 0.6 : word.length > 2 ? 0.4 : 0;
}

function shown(index, place) {
  const [page, field] = place.split("#");
  const [kind, title, address, note, anchor] = index.pages[page];
  if (field === undefined) return { kind, title, address, note };
  return { kind: "Field", title: field, address: `${address}#${anchor}${field}`, note: `of ${title}` };
}
