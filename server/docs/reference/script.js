// The search: the index is fetched when somebody begins to search.
(() => {
  const search = document.querySelector(".search");
  const query = document.getElementById("query");
  const panel = search.querySelector(".found");
  const told = document.getElementById("found");
  const list = panel.querySelector("ol");
  let index;

  const fetchIndex = () => (index ??= fetch(query.dataset.index).then((answer) => answer.json()));

  const item = ({ kind, title, address, note }) => {
    const link = document.createElement("a");
    link.href = address;
    for (const [tag, text] of [["small", kind], ["b", title], ["span", note]]) {
      link.append(Object.assign(document.createElement(tag), { textContent: text }));
    }
    const entry = document.createElement("li");
    entry.append(link);
    return entry;
  };

  const show = async () => {
    const asked = query.value;
    const { places, told: text } = find(await fetchIndex(), asked);
    if (asked !== query.value) return; // Somebody typed on.
    panel.hidden = asked.trim() === "";
    told.textContent = text;
    list.replaceChildren(...places.map(item));
  };

  const fail = () => {
    index = undefined; // The next letter tries again.
    panel.hidden = false;
    told.textContent = "The search cannot be reached.";
    list.replaceChildren();
  };

  const leave = () => {
    panel.hidden = true;
    query.focus();
  };

  // The arrows go from the field to the first link, from link to link, and back.
  const step = (by) => {
    const stops = [query, ...list.querySelectorAll("a")];
    const next = stops.indexOf(document.activeElement) + by;
    stops[Math.min(Math.max(next, 0), stops.length - 1)].focus();
  };

  query.addEventListener("focus", () => fetchIndex().catch(fail));
  query.addEventListener("input", () => show().catch(fail));
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "Escape") leave();
    else if (event.key === "Enter" && event.target === query) list.querySelector("a")?.click();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input") || event.ctrlKey || event.metaKey || event.altKey;
    if (event.key !== "/" || typing) return;
    event.preventDefault();
    query.focus();
  });
  document.addEventListener("click", (event) => {
    if (!search.contains(event.target)) panel.hidden = true;
  });
  // The page for an unknown address has its words in the field, and shows what they find.
  const nearest = document.getElementById("nearest");
  if (nearest && query.value) {
    fetchIndex().then((index) => {
      const places = find(index, query.value).places.slice(0, 6);
      nearest.className = "places";
      nearest.replaceChildren(...places.map(item));
    });
  }
  search.hidden = false; // Without this script there is nothing that searches.
})();
