// Buttons that copy the field beside them.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const field = /** @type {HTMLInputElement} */ (button.parentElement?.querySelector("input"));
    field.select();
    await navigator.clipboard.writeText(field.value);
    button.textContent = "Copied";
  });
}
