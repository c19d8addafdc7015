// Logging in with a passkey, and adding one. A form with data-passkey is sent once the device has answered: its action then gets the
// challenge and the answer in two hidden fields. data-challenge is where a challenge comes from.
(() => {
  "use strict";
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  // asked turns what the API wants to know into what the browser takes.
  const asked = (options) => {
    options.challenge = bytes(options.challenge);
    if (options.user) options.user.id = bytes(options.user.id);
    for (const list of [options.excludeCredentials, options.allowCredentials]) {
      for (const c of list || []) c.id = bytes(c.id);
    }
    return options;
  };

  // answered turns what the device said into what the API takes.
  const answered = (credential) => {
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (credential.response[name]) response[name] = text(credential.response[name]);
    }
    if (credential.response.getTransports) response.transports = credential.response.getTransports();
    return JSON.stringify({
      id: credential.id, rawId: text(credential.rawId), type: credential.type,
      authenticatorAttachment: credential.authenticatorAttachment || undefined,
      clientExtensionResults: credential.getClientExtensionResults(), response,
    });
  };

  const say = (form, message) => {
    const place = form.querySelector("[data-passkey-problem]");
    place.textContent = message;
    place.hidden = false;
  };

  const ask = async (form) => {
    const sent = await fetch(form.dataset.challenge, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" } });
    const answer = await sent.json();
    if (!sent.ok) throw new Error(answer.detail);
    const publicKey = asked(answer.options.publicKey);
    const credential = form.dataset.passkey === "create"
      ? await navigator.credentials.create({ publicKey })
      : await navigator.credentials.get({ publicKey });
    form.elements.challenge.value = answer.challenge;
    form.elements.credential.value = answered(credential);
    if (form.elements.passkey_password) form.elements.passkey_password.value = ""; // it was shown with the question
  };

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    if (!window.PublicKeyCredential) continue;
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const button = form.querySelector("button");
      button.disabled = true;
      try {
        await ask(form);
        form.submit();
      } catch (problem) {
        say(form, problem.name === "NotAllowedError" ? "The device did not answer, or you cancelled it." : problem.message);
        button.disabled = false;
      }
    });
  }
})();
