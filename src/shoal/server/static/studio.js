"use strict";
/* Times are sent in UTC; they are shown by the clock of whoever reads them. */
(() => {
  const clock = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  for (const time of document.querySelectorAll("time[datetime]")) {
    time.title = time.textContent;
    time.textContent = clock.format(new Date(time.dateTime));
  }
})();
/* The upload goes as the body of one request, so that neither browser nor server holds the file in memory. */
(() => {
  for (const form of document.querySelectorAll("form[data-upload]")) {
    const sent = form.querySelector("progress");
    const problem = form.querySelector(".problem");
    const button = form.querySelector("button");
    const fail = text => {
      problem.textContent = text;
      problem.hidden = false;
      sent.hidden = true;
      button.disabled = false;
    };
    form.addEventListener("submit", event => {
      event.preventDefault();
      const file = form.querySelector("input[type=file]").files[0];
      if (!file) return;
      problem.hidden = true;
      sent.hidden = false;
      button.disabled = true;
      const request = new XMLHttpRequest();
      request.open("POST", form.dataset.upload + "?name=" + encodeURIComponent(file.name));
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.setRequestHeader("X-CSRF-Token", form.dataset.csrf);
      request.upload.addEventListener("progress", now => { if (now.lengthComputable) sent.value = now.loaded / now.total; });
      request.addEventListener("error", () => fail(form.dataset.unreachable));
      request.addEventListener("load", () => {
        let answer = {};
        try { answer = JSON.parse(request.responseText); } catch { answer = {}; }
        if (request.status === 201) location.assign(form.dataset.leads + answer[form.dataset.key]);
        else fail(request.status === 413 ? form.dataset.tooLarge : answer.title || form.dataset.unusable);
      });
      request.send(file);
    });
  }
  /* The k that is usual for a use case is put in until somebody writes another. */
  const k = document.getElementById("k");
  if (k) {
    let own = false;
    k.addEventListener("input", () => { own = true; });
    for (const radio of document.querySelectorAll("input[name=use_case]")) {
      radio.addEventListener("change", () => { if (!own && radio.dataset.k) k.value = radio.dataset.k; });
    }
  }
  /* Of a file that shows something, name and checksum go to the server; the file stays here. */
  for (const input of document.querySelectorAll("input[data-checksum]")) {
    const form = input.closest("form");
    const told = form.querySelector(".told");
    input.addEventListener("change", async () => {
      const file = input.files[0];
      form.elements.file.value = form.elements.sha256.value = "";
      if (!file) { told.textContent = ""; return; }
      told.textContent = "…";
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
      const text = Array.from(digest, byte => byte.toString(16).padStart(2, "0")).join("");
      form.elements.file.value = file.name;
      form.elements.sha256.value = text;
      told.textContent = "SHA-256 " + text + ". " + input.dataset.stays;
    });
  }
  /* Roles by their first letter, in whatever language they are shown. */
  const roles = { d: "direct", q: "quasi", s: "sensitive", i: "insensitive" };
  document.addEventListener("keydown", event => {
    const role = roles[event.key];
    if (!role || event.ctrlKey || event.metaKey || event.altKey || !event.target.matches("select.role")) return;
    event.preventDefault();
    if (event.target.value === role) return;
    event.target.value = role;
    event.target.dispatchEvent(new Event("change", { bubbles: true }));
  });
  /* A text file is read here and put into the field. */
  for (const input of document.querySelectorAll("input[data-into]")) {
    input.addEventListener("change", async () => {
      const field = document.getElementById(input.dataset.into);
      if (!input.files[0]) return;
      field.value = await input.files[0].text();
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
  /* What was found in a text: a phrase is decided on wherever it stands, and the list of what stays follows. */
  const original = document.getElementById("original");
  if (original) {
    const found = Array.from(original.querySelectorAll(".found"));
    const boxes = Array.from(document.querySelectorAll("input[name=stays][data-phrase]"));
    const goes = document.getElementById("goes");
    const decide = (phrase, away) => {
      for (const one of found) if (one.dataset.phrase === phrase) one.setAttribute("aria-pressed", String(away));
      for (const box of boxes) if (box.dataset.phrase === phrase) box.checked = !away;
    };
    for (const one of found) {
      one.addEventListener("click", () => decide(one.dataset.phrase, one.getAttribute("aria-pressed") !== "true"));
      one.addEventListener("keydown", event => {
        if (event.ctrlKey || event.metaKey || event.altKey || (event.key !== "a" && event.key !== "r")) return;
        event.preventDefault();
        decide(one.dataset.phrase, event.key === "a");
        const next = found[found.indexOf(one) + 1];
        if (next) next.focus();
      });
    }
    for (const box of boxes) box.addEventListener("change", () => decide(box.dataset.phrase, !box.checked));
    document.addEventListener("keydown", event => {
      const chosen = document.getSelection();
      const phrase = chosen.toString().replace(/\s+/g, " ").trim();
      if (event.key !== "d" || !phrase || !original.contains(chosen.anchorNode) || event.target.matches("input, textarea, select")) return;
      event.preventDefault();
      goes.value = (goes.value.trim() + "\n" + phrase).trim() + "\n";
      chosen.removeAllRanges();
    });
  }
})();
/* Levels: the slider writes the widths, each twice the one before; who touches a field of a kind means that kind. */
(() => {
  const slider = document.querySelector("[data-widths]");
  if (!slider) return;
  const choose = kind => { document.querySelector(`input[name=kind][value=${kind}]`).checked = true; };
  slider.form.addEventListener("input", event => {
    if (event.target === slider) {
      document.getElementById(slider.dataset.widths).value = [1, 2, 4].map(times => times * slider.value).join(", ");
      choose("intervals");
    } else if (event.target.name.includes(".")) {
      choose(event.target.name.split(".")[0]);
    }
  }, true);
})();
