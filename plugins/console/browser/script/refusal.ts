/**
 * Where a form was refused, the page begins at what is wrong: with links to the fields, and the focus. A page for one field has the focus
 * there. Without script, the title and the sentences say it.
 */
export function showRefusal (): void {
  const notice = document.body.dataset['refused'] === undefined ? null : document.querySelector<HTMLElement>('main .notice.bad')
  if (notice === null || document.querySelector('[autofocus]') !== null) return
  const list = document.createElement('ul')
  for (const field of document.querySelectorAll<HTMLInputElement>('main [aria-invalid=true]')) {
    const label = field.labels?.[0]?.textContent.trim() ?? ''
    if (field.id === '' || label === '') continue
    const [item, link] = [document.createElement('li'), document.createElement('a')]
    link.href = `#${field.id}`
    link.textContent = label
    link.addEventListener('click', (event) => {
      event.preventDefault()
      field.focus()
    })
    item.append(link)
    list.append(item)
  }
  if (list.childElementCount > 0) notice.append(list)
  notice.tabIndex = -1
  notice.focus()
}
