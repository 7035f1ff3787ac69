// Creates or uses a passkey in the browser, and submits the form with the credential.
//
// <form data-passkey="create|get" data-options="JSON"> contains the options. With data-options-from="URL", they are
// fetched when needed. The credential is written to the form's "credential" field. If the browser does not support
// passkeys, [data-passkey-missing] is shown and the form stays hidden.

const say = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));

function toBytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

function toText(buffer) {
  const plain = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const withBytes = (keys) => (keys ?? []).map((key) => ({ ...key, id: toBytes(key.id) }));

function readOptions({ publicKey }) {
  const read = { ...publicKey, challenge: toBytes(publicKey.challenge) };
  if (read.user) read.user = { ...read.user, id: toBytes(read.user.id) };
  if (read.excludeCredentials) read.excludeCredentials = withBytes(read.excludeCredentials);
  if (read.allowCredentials) read.allowCredentials = withBytes(read.allowCredentials);
  return { publicKey: read };
}

function writeCredential(credential) {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (credential.response[name]) response[name] = toText(credential.response[name]);
  }
  if (credential.response.getTransports) response.transports = credential.response.getTransports();
  return JSON.stringify({
    id: credential.id,
    rawId: toText(credential.rawId),
    type: credential.type,
    authenticatorAttachment: credential.authenticatorAttachment ?? null,
    response,
    clientExtensionResults: credential.getClientExtensionResults(),
  });
}

async function optionsOf(form) {
  if (form.dataset.options) return JSON.parse(form.dataset.options);
  const answer = await fetch(form.dataset.optionsFrom, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.json();
}

async function ask(form) {
  try {
    const options = readOptions(await optionsOf(form));
    form.elements.credential.value = writeCredential(await navigator.credentials[form.dataset.passkey](options));
    form.submit();
  } catch {
    // The user canceled, took too long, or has no passkey for this site. Nothing was sent.
    say("toast", { text: form.dataset.failed, tone: "warning", id: "passkey" });
  }
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (window.PublicKeyCredential) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      ask(form);
    });
  } else {
    for (const note of document.querySelectorAll("[data-passkey-missing]")) note.hidden = false;
  }
}
