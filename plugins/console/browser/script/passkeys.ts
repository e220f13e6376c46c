/** Offers what needs a passkey, where the browser has them; elsewhere these forms stay hidden. */
export function offerPasskeys (): void {
  if (!('PublicKeyCredential' in window) || !('parseRequestOptionsFromJSON' in PublicKeyCredential)) return
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]')) {
    form.hidden = false
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void askForPasskey(form)
    })
  }
}

/** Asks the person for a passkey, and sends the form with its answer. */
export async function askForPasskey (form: HTMLFormElement): Promise<void> {
  const [failed, button, answer] = [form.querySelector<HTMLElement>('[role=alert]'), form.querySelector('button'),
    form.querySelector<HTMLInputElement>('input[data-answer]')]
  if (failed === null || button === null || answer === null) return
  failed.hidden = true
  button.disabled = true
  try {
    const response = await fetch(form.dataset['passkey'] ?? '', { method: 'POST' })
    if (response.status === 401) {
      // The service wants to know first who sits here: it asks for that where the form leads to.
      form.submit()
      return
    }
    const options = await response.json() as object
    const credential = 'rp' in options
      ? await navigator.credentials.create({
        publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON)
      })
      : await navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON)
      })
    answer.value = JSON.stringify(credential)
    // What waits for the end of the sign-in stands in one of its forms, and comes along with whichever is sent.
    form.append(...document.querySelectorAll('input[name^="kept:"]'))
    form.submit()
  } catch {
    // The person has refused, the device has no passkey for this, or the page is too old: all the same to the reader.
    failed.hidden = false
    button.disabled = false
  }
}
