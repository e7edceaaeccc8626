// Finds in the index that `search_index.py` writes. Nothing here knows the page; the tests call it.

const WORD = /[\p{L}\p{N}_]+/gu;
const MOST_FOUND = 30;

// Gives up to thirty places, the best first: {kind, title, address, note}.
function find(index, query) {
  const words = [...new Set(query.toLowerCase().match(WORD))];
  const found = new Map();
  for (const word of words) {
    for (const [place, score] of placesOf(index, word)) {
      const before = found.get(place) ?? { words: 0, score: 0 };
      found.set(place, { words: before.words + 1, score: before.score + score });
    }
  }
  return [...found]
    .sort(([, one], [, other]) => other.words - one.words || other.score - one.score)
    .slice(0, MOST_FOUND)
    .map(([place]) => shown(index, place));
}

// Gives the places of one word, or of what it begins, with their scores. A word that few pages have
// counts more; of titles that have it, the shorter comes first.
function placesOf(index, word) {
  const places = new Map();
  const keep = (place, score) => places.set(place, Math.max(score, places.get(place) ?? 0));
  const begun = Object.entries(index.words).filter(([known]) => known.startsWith(word));
  const having = new Set(begun.flatMap(([, pages]) => pages));
  const rare = Math.log(1 + index.pages.length / having.size);
  for (const [known, pages] of begun) {
    for (const page of pages) {
      keep(`${page}`, rare * nearness(word, known) * (1 + titleScore(index.pages[page][1], word)));
    }
  }
  for (const [name, pages] of Object.entries(index.fields)) {
    const near = nearness(word, name.toLowerCase());
    if (near > 0) for (const page of pages) keep(`${page}#${name}`, near * 4);
  }
  return places;
}

// Tells how near a word is to a name: the name, its beginning, the beginning of a part, or nothing.
function nearness(word, name) {
  if (name === word) return 2;
  if (name.startsWith(word)) return 1;
  return name.includes(`_${word}`) ? 0.5 : 0;
}

function titleScore(title, word) {
  const words = title.toLowerCase().match(WORD) ?? [];
  if (words.length === 1 && words[0] === word) return 4;
  const nearest = Math.max(...words.map((each) => nearness(word, each)), 0);
  return nearest === 0 ? 0 : nearest + 1 / (1 + words.length);
}

function shown(index, place) {
  const [page, field] = place.split("#");
  const [kind, title, address, note, anchor] = index.pages[page];
  if (field === undefined) return { kind, title, address, note };
  return { kind: "Field", title: field, address: `${address}#${anchor}${field}`, note: `of ${title}` };
}
