/**
 * A form that is sent twice by the same button in quick succession, such as by a double click, is sent once. One that opens in another
 * window or frame leaves the page as it is, and may be sent again at once.
 */
export function sendOnce (): void {
  const quick = 1_500
  const sent = new WeakMap<EventTarget, number>()
  document.addEventListener('submit', (event) => {
    const { target: form, submitter } = event
    if (!(form instanceof HTMLFormElement) || form.method !== 'post' || submitter?.hasAttribute('formtarget') === true) return
    const pressed = submitter ?? form
    if (event.timeStamp - (sent.get(pressed) ?? -quick) < quick) event.preventDefault()
    else sent.set(pressed, event.timeStamp)
  })
}
