// Names the server that the page came from in each sample, and gives each sample a button that copies it.
(() => {
  const { host } = document.currentScript.dataset;

  // Replaces the host of the written pages; a page that is opened from a file keeps it.
  const nameServer = (code) => {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(host, location.origin);
  };

  // Copies a text; a browser has a clipboard only over HTTPS and on the machine itself.
  const copy = async (code) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(code.textContent);
    getSelection().selectAllChildren(code);
    if (!document.execCommand("copy")) throw new Error("not allowed");
    return getSelection().removeAllRanges();
  };

  const named = (pre) => pre.closest("details")?.querySelector("summary").textContent ?? "sample";

  const addButton = (pre) => {
    const code = pre.querySelector("code") ?? pre;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "copy" });
    const status = Object.assign(document.createElement("span"), { className: "unseen" });
    const place = Object.assign(document.createElement("div"), { className: "sample" });
    button.setAttribute("aria-label", `Copy ${named(pre)}`);
    status.setAttribute("role", "status");
    const tell = (word, spoken) => {
      button.textContent = word;
      status.textContent = spoken;
    };
    const tellForAWhile = (word, spoken) => {
      tell(word, spoken);
      setTimeout(tell, 2000, "Copy", "");
    };
    button.addEventListener("click", () => {
      copy(code).then(
        () => tellForAWhile("Copied", "Copied."),
        () => tellForAWhile("Failed", "The browser does not allow it.")
      );
    });
    tell("Copy", "");
    pre.replaceWith(place);
    place.append(pre, button, status);
  };

  const { protocol } = location;
  if (protocol === "http:" || protocol === "https:") document.querySelectorAll("main code").forEach(nameServer);
  document.querySelectorAll("main pre").forEach(addButton);
})();
