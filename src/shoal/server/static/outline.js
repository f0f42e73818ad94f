"use strict";
/* A tree in a field, one name in each line, what belongs to a group moved in below it: here it is moved by dragging, or
   with the arrow keys. The field stays what is sent. */
(() => {
  const list = document.querySelector("[data-outline]");
  if (!list) return;
  const field = document.getElementById(list.dataset.outline);
  const values = new Set(JSON.parse(list.dataset.values));
  const STEP = 2;
  let rows = [];
  let dragged = -1;
  let writes = false;

  const read = () => {
    const lines = field.value.split("\n").filter(line => line.trim());
    if (lines.length && lines.every(line => line.includes(";"))) return [];
    const open = [];
    return lines.map(line => {
      const indent = line.length - line.trimStart().length;
      while (open.length && open.at(-1) >= indent) open.pop();
      open.push(indent);
      return { name: line.trim(), depth: open.length - 1 };
    });
  };
  const write = () => {
    writes = true;
    field.value = rows.map(row => " ".repeat(STEP * row.depth) + row.name).join("\n");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    writes = false;
  };
  /* A row with all that belongs to it. */
  const end = start => {
    let next = start + 1;
    while (next < rows.length && rows[next].depth > rows[start].depth) next += 1;
    return next;
  };
  const shift = (part, depth) => {
    const by = depth - part[0].depth;
    for (const row of part) row.depth += by;
    return part;
  };
  const isGroup = place => end(place) > place + 1 || !values.has(rows[place].name);
  const fresh = () => {
    let number = 1;
    const known = new Set(rows.map(row => row.name));
    while (known.has(`${list.dataset.fresh} ${number}`)) number += 1;
    return `${list.dataset.fresh} ${number}`;
  };

  const parent = place => {
    let above = place - 1;
    while (above >= 0 && rows[above].depth >= rows[place].depth) above -= 1;
    return above;
  };
  const before = place => {
    let above = place - 1;
    while (above >= 0 && rows[above].depth > rows[place].depth) above -= 1;
    return above >= 0 && rows[above].depth === rows[place].depth ? above : -1;
  };
  /* Into a group, as its last; of two values a new group is made. */
  const join = (part, onto) => {
    if (!isGroup(rows.indexOf(onto))) {
      rows.splice(rows.indexOf(onto), 0, { name: fresh(), depth: onto.depth });
      onto.depth += 1;
      rows.splice(rows.indexOf(onto) + 1, 0, ...shift(part, onto.depth));
    } else {
      rows.splice(end(rows.indexOf(onto)), 0, ...shift(part, onto.depth + 1));
    }
  };
  const taken = place => rows.splice(place, end(place) - place);

  const drop = target => {
    if (dragged < 0 || (target >= dragged && target < end(dragged))) return;
    const moved = rows[dragged];
    const onto = target < 0 ? null : rows[target];
    const part = taken(dragged);
    if (onto === null) rows.push(...shift(part, 0));
    else join(part, onto);
    changed(moved);
  };
  /* Up and down among those beside it, right into the one before, left out of its group and behind it. */
  const move = (place, key) => {
    const row = rows[place];
    const above = before(place);
    const below = end(place);
    if (key === "ArrowRight" && above >= 0) {
      const onto = rows[above];
      join(taken(place), onto);
    } else if (key === "ArrowLeft" && row.depth > 0) {
      const group = rows[parent(place)];
      const part = taken(place);
      rows.splice(end(rows.indexOf(group)), 0, ...shift(part, group.depth));
    } else if (key === "ArrowUp" && above >= 0) {
      const part = taken(place);
      rows.splice(above, 0, ...part);
    } else if (key === "ArrowDown" && below < rows.length && rows[below].depth === row.depth) {
      const other = rows[below];
      const part = taken(place);
      rows.splice(end(rows.indexOf(other)), 0, ...part);
    } else return;
    changed(row);
  };
  const changed = row => {
    write();
    draw();
    const handle = list.children[rows.indexOf(row)]?.querySelector("button");
    if (handle) handle.focus();
  };

  const draw = () => {
    list.replaceChildren(...rows.map((row, place) => {
      const item = document.createElement("li");
      item.dataset.depth = Math.min(row.depth, 6);
      item.draggable = true;
      const handle = document.createElement("button");
      handle.type = "button";
      handle.className = "handle";
      handle.textContent = "⠿";
      handle.setAttribute("aria-label", `${list.dataset.move} ${row.name}`);
      handle.addEventListener("keydown", event => {
        if (!event.key.startsWith("Arrow") || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        move(rows.indexOf(row), event.key);
      });
      item.append(handle);
      if (isGroup(place)) {
        const name = document.createElement("input");
        name.value = row.name;
        name.maxLength = 100;
        name.setAttribute("aria-label", list.dataset.group);
        name.addEventListener("input", event => {
          event.stopPropagation();
          if (!name.value.trim() || name.value.includes(";")) return;
          row.name = name.value.trim();
          handle.setAttribute("aria-label", `${list.dataset.move} ${row.name}`);
          write();
        });
        item.append(name);
      } else {
        item.append(row.name);
      }
      item.addEventListener("dragstart", event => {
        event.stopPropagation();
        event.dataTransfer.setData("text/plain", row.name);
        dragged = rows.indexOf(row);
      });
      item.addEventListener("dragover", event => { event.preventDefault(); item.classList.add("over"); });
      item.addEventListener("dragleave", () => item.classList.remove("over"));
      item.addEventListener("drop", event => { event.preventDefault(); event.stopPropagation(); drop(rows.indexOf(row)); });
      return item;
    }));
  };
  list.addEventListener("dragover", event => event.preventDefault());
  list.addEventListener("drop", event => { event.preventDefault(); drop(-1); });
  document.querySelector("[data-new-group]").addEventListener("click", () => {
    const group = { name: fresh(), depth: 0 };
    rows.unshift(group);
    changed(group);
  });
  field.addEventListener("input", () => { if (!writes) { rows = read(); draw(); } });
  rows = read();
  draw();
})();
