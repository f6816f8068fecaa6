// Dragging tasks: onto a task (before it), onto a session (at its end), onto the field for a new one, or back to the left.
import { around, the } from "../shared/elements.js";

/**
 * @param {{marked: Set<number>, act: (action: Record<string, any>) => void, sessions: Map<number, Record<string, any>>}} page
 */
export function bindDragging({ marked, act, sessions }) {
  const area = the(document, "#organise");
  /** @type {number[]} */
  let dragged = [];
  /** @type {HTMLElement | null} */
  let target = null;

  area.addEventListener("dragstart", (event) => {
    const row = around(event, "[data-task]");
    if (!row || !event.dataTransfer) return;
    const id = Number(row.dataset.task);
    dragged = marked.has(id) ? [...marked] : [id];
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", row.textContent);
    area.classList.add("dragging");
  });
  area.addEventListener("dragover", (event) => {
    const over = dragged.length ? found(event) : null;
    show(over);
    if (over) event.preventDefault();
  });
  area.addEventListener("drop", (event) => {
    const over = found(event);
    if (!dragged.length || !over) return;
    event.preventDefault();
    drop(over, event);
    end();
  });
  area.addEventListener("dragend", end);

  /** The element that a drop would be on. @param {Event} event */
  function found(event) {
    const at = event.target instanceof Element ? event.target : null;
    return at?.closest("[data-session], [data-drop]") ?? at?.closest("#left")?.parentElement ?? null;
  }

  /** @param {HTMLElement | null} over */
  function show(over) {
    if (over === target) return;
    target?.classList.remove("over");
    over?.classList.add("over");
    target = over;
  }

  /** @param {HTMLElement} over @param {MouseEvent} event */
  function drop(over, event) {
    if (over.dataset.drop === "new") return act({ do: "new", tasks: dragged });
    if (!over.dataset.session) return placed(dragged) && act({ do: "remove", tasks: dragged });
    const rest = over.getBoundingClientRect();
    const after = event.clientY > rest.top + rest.height / 2 ? 1 : 0;
    const at = over.dataset.index === undefined ? null : Number(over.dataset.index) + after;
    return act({ do: "move", tasks: dragged, session: Number(over.dataset.session), at });
  }

  /** @param {number[]} ids */
  function placed(ids) {
    return [...sessions.values()].some((session) => session.tasks.some((/** @type {number} */ id) => ids.includes(id)));
  }

  function end() {
    show(null);
    dragged = [];
    area.classList.remove("dragging");
  }
}
