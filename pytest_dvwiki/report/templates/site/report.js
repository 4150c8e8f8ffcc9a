"use strict";
const up = document.body.dataset.up;
const byId = (id) => document.getElementById(id);

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = byId(button.dataset.copy);
    const status = button.parentElement.querySelector("[role=status]");
    try {
      await navigator.clipboard.writeText(source.textContent);
      status.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(source);
      status.textContent = "selected: copy it with the keyboard";
    }
  });
}

for (const input of document.querySelectorAll("[data-filter]")) {
  const line = input.parentElement;
  const rows = [...byId(input.dataset.filter).tBodies[0].rows];
  line.hidden = false;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    line.querySelector("[role=status]").textContent = `${shown} of ${rows.length}`;
  });
}

const search = byId("search");
const found = byId("found");
let asked = null;

function loaded() {
  asked ??= new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${up}assets/search.js`;
    script.addEventListener("load", done);
    document.head.append(script);
  });
  return asked;
}

async function look() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  if (found.hidden) return;
  await loaded();
  const matches = window.dvwikiSearch.filter((entry) => {
    const text = entry.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const rest = matches.length > 20 ? ", the first 20 are shown" : "";
  found.querySelector("[role=status]").textContent = `${matches.length} found${rest}`;
  found.querySelector("ul").replaceChildren(
    ...matches.slice(0, 20).map(([kind, title, , url]) => {
      const link = document.createElement("a");
      link.href = up + url;
      link.textContent = title;
      const item = document.createElement("li");
      item.append(`${kind} `, link);
      return item;
    }),
  );
}

search.addEventListener("input", look);
search.addEventListener("focus", loaded);
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    search.value = "";
    look();
  } else if (event.key === "Enter") {
    found.querySelector("a")?.click();
  }
});

// `dvwiki serve` puts the version of the report into its pages: they are loaded again when the report has changed.
const version = document.body.dataset.version;
if (version !== undefined) {
  setInterval(() => {
    const script = document.createElement("script");
    script.src = `${up}assets/version.js`;
    script.addEventListener("load", () => {
      script.remove();
      if (version !== String(window.dvwikiVersion)) location.reload();
    });
    script.addEventListener("error", () => script.remove());
    document.head.append(script);
  }, 1000);
}
