(() => {
  const contents = document.querySelector("nav");
  // Not scrollIntoView: on a narrow screen the contents stand above the text, and it would jump there.
  const reveal = (link) => {
    const [seen, at] = [contents.getBoundingClientRect(), link.getBoundingClientRect()];
    if (at.top < seen.top) contents.scrollTop -= seen.top - at.top;
    else if (at.bottom > seen.bottom) contents.scrollTop += at.bottom - seen.bottom;
  };
  const filter = document.getElementById("filter");
  const links = [...document.querySelectorAll("nav li a")];
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const link of links) {
      const text = `${link.textContent} ${link.dataset.words || ""}`.toLowerCase();
      link.parentElement.hidden = !words.every((word) => text.includes(word));
    }
    for (const list of document.querySelectorAll("nav ul")) {
      const empty = [...list.children].every((item) => item.hidden);
      list.hidden = empty;
      list.previousElementSibling.hidden = empty;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== filter) {
      event.preventDefault();
      filter.focus();
    }
  });
  const byTarget = new Map(links.map((link) => [link.hash.slice(1), link]));
  let current;
  const observer = new IntersectionObserver(
    (entries) => {
      const seen = entries.find((entry) => entry.isIntersecting);
      if (!seen) return;
      current?.removeAttribute("aria-current");
      current = byTarget.get(seen.target.id);
      current.setAttribute("aria-current", "true");
      reveal(current);
    },
    { rootMargin: "0px 0px -75% 0px" },
  );
  for (const id of byTarget.keys()) {
    const target = document.getElementById(id);
    if (target) observer.observe(target);
  }
})();
