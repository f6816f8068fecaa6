// Buttons that ask the browser for a passkey: `data-passkey` is "make" or "use". The options lie in the page, or for
// signing in without a name at the address in `data-options`; the answer is sent with the button's own form.
import { call } from "../shared/server.js";

/** @typedef {HTMLButtonElement & {form: HTMLFormElement}} PasskeyButton */

/** @param {PasskeyButton} button @param {string} name */
const fieldOf = (button, name) => /** @type {HTMLInputElement | null} */ (button.form.elements.namedItem(name));

/** @param {PasskeyButton} button @param {string} text */
const say = (button, text) => {
  /** @type {HTMLElement} */ (button.form.querySelector("[data-said]")).textContent = text;
};

/** @param {PasskeyButton} button */
const options = async (button) => {
  if (button.dataset.options) return call(button.dataset.options);
  return JSON.parse(/** @type {HTMLElement} */ (document.getElementById("passkey-options")).textContent);
};

/** @param {{creation_options: {publicKey: any}}} options as the server writes them @param {boolean} alone without a name */
const make = async ({ creation_options: { publicKey } }, alone) => {
  const needs = publicKey.authenticatorSelection;
  needs.residentKey = alone ? "required" : "discouraged";
  needs.requireResidentKey = alone;
  needs.userVerification = alone ? "required" : "preferred";
  return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
};

/** @param {{request_options: {publicKey: any}}} options as the server writes them */
const use = async ({ request_options: { publicKey } }) =>
  navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });

/** @param {PasskeyButton} button */
const ask = async (button) => {
  const given = await options(button);
  const alone = fieldOf(button, "passwordless")?.checked ?? false;
  const credential = button.dataset.passkey === "make" ? await make(given, alone) : await use(given);
  const written = JSON.stringify(/** @type {PublicKeyCredential} */ (credential).toJSON());
  /** @type {HTMLInputElement} */ (fieldOf(button, "credential")).value = written;
  button.form.submit();
};

for (const button of /** @type {NodeListOf<PasskeyButton>} */ (document.querySelectorAll("[data-passkey]"))) {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    button.disabled = true;
    say(button, "This browser has no passkeys on this page: it needs HTTPS and a version of the last two years.");
    continue;
  }
  button.addEventListener("click", async () => {
    say(button, "");
    try {
      await ask(button);
    } catch (error) {
      say(button, error.name === "NotAllowedError" ? "No passkey was given." : `That did not work: ${error.message}`);
    }
  });
}
