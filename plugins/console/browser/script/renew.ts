/**
 * Makes a part of the page like a newer one, and leaves alone what is alike: a field that is being filled in, a text that is being read, a
 * document that is shown. Children with a name are found again by it. What follows the changes stays as it is.
 */
export function renew (old: Element, fresh: Element): void {
  if (old.isEqualNode(fresh) || old.hasAttribute('data-changes')) return
  renewAttributes(old, fresh)
  let at: ChildNode | null = old.firstChild
  for (const child of [...fresh.childNodes]) {
    const known: ChildNode | null = sameChild(old, at, child)
    if (known === null) {
      old.insertBefore(document.adoptNode(child), at)
      continue
    }
    if (known !== at) old.insertBefore(known, at)
    if (known instanceof Element && child instanceof Element) renew(known, child)
    else if (known.nodeValue !== child.nodeValue) known.nodeValue = child.nodeValue
    at = known.nextSibling
  }
  while (at !== null) {
    const next: ChildNode | null = at.nextSibling
    at.remove()
    at = next
  }
}

/** The child to be made like a newer one: the one with its name, else the next one where that is of the same kind and has no name. */
export function sameChild (old: Element, at: ChildNode | null, child: ChildNode): ChildNode | null {
  const nameOf = (node: ChildNode | null): string | null =>
    node instanceof Element ? node.getAttribute('aria-labelledby') ?? node.getAttribute('data-page') : null
  const name = nameOf(child)
  if (name !== null) return [...old.childNodes].find((node) => nameOf(node) === name) ?? null
  return at !== null && at.nodeName === child.nodeName && nameOf(at) === null ? at : null
}

/** What a reader has opened stays open. */
export function renewAttributes (old: Element, fresh: Element): void {
  for (const { name } of [...old.attributes]) if (name !== 'open' && !fresh.hasAttribute(name)) old.removeAttribute(name)
  for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
}
