// Tries an operation on the server that the page came from, where that is one of a developer's own.
// `accounting demo --serve` prints an address of the pages with the credentials behind its #.

const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

// Gives the credentials in the part of an address behind its #, or nothing.
function credentialsIn(hash, host) {
  const given = new URLSearchParams(hash.slice(1));
  return LOCAL.includes(host) && given.has("api_key") ? Object.fromEntries(given) : undefined;
}

// Gives what `fetch` takes for an operation and for what was filled in.
function requestOf({ method, path, repeatable }, { variables, query, body }, authorization) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(variables[name]));
  const headers = { Authorization: authorization };
  if (repeatable) headers["Idempotency-Key"] = crypto.randomUUID();
  if (typeof body === "string") headers["Content-Type"] = "application/json"; // Forms say it themselves.
  return [query ? `${filled}?${query}` : filled, { method, headers, body }];
}

// Gives what is sent of the fields of a body, {name, value} or {name, file}; an empty one is left out.
function bodyOf(mediaType, fields) {
  if (mediaType === "application/json") return fields[0].value;
  const body = mediaType === "multipart/form-data" ? new FormData() : new URLSearchParams();
  for (const { name, value, file } of fields) {
    if (file) body.append(name, file, file.name);
    else if (value) body.append(name, value);
  }
  return body;
}

// Reads the fields that are filled in; each line of a list is a value.
function fieldsOf(fieldset) {
  return [...fieldset.querySelectorAll("input, textarea")].flatMap(({ name, value, type, files, dataset }) => {
    if (type === "file") return [...files].map((file) => ({ name, file }));
    if ("list" in dataset) return value.split("\n").map((line) => ({ name, value: line }));
    return [{ name, value }];
  });
}

// Fills in the file of the contract's example.
function fillIn(input) {
  const type = input.accept.split(",")[0];
  const files = new DataTransfer();
  files.items.add(new File([input.dataset.example], `example.${type.split("/")[1]}`, { type }));
  input.files = files.files;
}

const basic = ({ partner_id, api_key }) => `Basic ${btoa(`${partner_id}:${api_key}`)}`;

async function token(address, authorization, body) {
  const answer = await fetch(address, { method: "POST", headers: { Authorization: authorization }, body });
  return `Bearer ${(await answer.json()).access_token}`;
}

// Gives credentials of a kind that the operation takes; most take the API key itself.
async function authorizationFor(taken, credentials) {
  const key = basic(credentials);
  if (taken.includes("PartnerKey")) return key;
  const grant = new URLSearchParams({ grant_type: "client_credentials" });
  const partner = await token("/v1/platform/oauth2/token/", key, grant);
  if (taken.includes("PartnerToken")) return partner;
  return token(`/v1/platform/${credentials.business_id}/oauth2/token/`, partner);
}

function tell(section, title, text) {
  section.querySelector("output").textContent = title;
  const shown = section.querySelector("pre");
  shown.textContent = text;
  shown.hidden = text === "";
}

async function send(section, credentials) {
  const form = section.querySelector("form");
  const { method, path, credentials: taken, repeatable } = section.dataset;
  const variables = Object.fromEntries([...form.querySelectorAll(".path")].map(({ name, value }) => [name, value]));
  const fieldset = form.querySelector("fieldset:not([hidden])");
  const body = fieldset ? bodyOf(fieldset.dataset.mediaType, fieldsOf(fieldset)) : undefined;
  const given = { variables, query: form.querySelector(".query").value, body };
  const operation = { method, path, repeatable: repeatable === "yes" };
  const authorization = await authorizationFor(taken.split(" "), credentials);
  const answer = await fetch(...requestOf(operation, given, authorization));
  const text = await answer.text();
  const json = answer.headers.get("Content-Type")?.startsWith("application/json");
  const title = `${answer.status}, request ${answer.headers.get("X-Request-ID")}`;
  tell(section, title, json ? JSON.stringify(JSON.parse(text), null, 2) : text);
}

(() => {
  if (typeof document === "undefined") return; // A test calls what stands above.
  const given = credentialsIn(location.hash, location.hostname);
  if (given) {
    sessionStorage.setItem("credentials", JSON.stringify(given));
    history.replaceState(null, "", location.pathname); // Nobody copies them with the address.
  }
  // An address that is pasted where one of these pages stands already loads nothing by itself.
  addEventListener("hashchange", () => credentialsIn(location.hash, location.hostname) && location.reload());
  const credentials = JSON.parse(sessionStorage.getItem("credentials"));
  const section = document.querySelector(".try");
  if (!credentials || !section) return;
  for (const field of section.querySelectorAll(".path")) field.value = credentials[field.name] ?? "";
  for (const file of section.querySelectorAll("[type=file]")) fillIn(file);
  section.querySelector(".sent-as")?.addEventListener("change", ({ target }) => {
    for (const each of section.querySelectorAll("fieldset")) each.hidden = each.dataset.mediaType !== target.value;
  });
  section.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    tell(section, "Sent.", "");
    send(section, credentials).catch((error) => tell(section, `No answer: ${error.message}`, ""));
  });
  section.hidden = false;
})();
