// Buttons that ask the browser for a passkey: `data-passkey` is "make" or "use". The options lie in the page, or for
// signing in without a name at the address in `data-options`; the answer is sent with the button's own form.
import { call } from "../shared/server.js";

const say = (button, text) => {
  button.form.querySelector("[data-said]").textContent = text;
};

const options = async (button) => {
  if (!button.dataset.options) return JSON.parse(document.getElementById("passkey-options").textContent);
  return call(button.dataset.options);
};

const make = async ({ creation_options: { publicKey } }, alone) => {
  const needs = publicKey.authenticatorSelection;
  needs.residentKey = alone ? "required" : "discouraged";
  needs.requireResidentKey = alone;
  needs.userVerification = alone ? "required" : "preferred";
  return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
};

const use = async ({ request_options: { publicKey } }) =>
  navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });

const ask = async (button) => {
  const given = await options(button);
  const alone = button.form.elements.passwordless?.checked ?? false;
  const credential = button.dataset.passkey === "make" ? await make(given, alone) : await use(given);
  button.form.elements.credential.value = JSON.stringify(/** @type {PublicKeyCredential} */ (credential).toJSON());
  button.form.submit();
};

for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-passkey]"))) {
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
