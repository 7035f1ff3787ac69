// Passkeys: asks the browser to make or use one, and sends the form with what it made.
//
// <form data-passkey="create|get" data-options="JSON"> has the options in the page; with data-options-from="ADDRESS"
// they are fetched when they are needed. The answer goes into the form's field "credential".
// Where the browser has no passkeys, [data-passkey-missing] is shown and the button hidden.

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
    // The person said no, took too long, or has none here: nothing was sent.
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
