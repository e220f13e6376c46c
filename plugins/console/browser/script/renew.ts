/**
 * Makes a part of the page like a newer one, and leaves alone what is alike: a field that is being filled in, a text that is being read, a
 * document that is shown. Children with a name are found again by it. What follows the changes stays as it is.
 */
export function renew (old: Element, fresh: Element): void {
  if (old.isEqualNode(fresh) || old.hasAttribute('data-changes')) return
  renewAttributes(old, fresh)
  const wanted = [...fresh.childNodes]
  const names = new Set(wanted.map(nameOf))
  const isGone = (node: ChildNode): boolean => nameOf(node) === null || !names.has(nameOf(node))
  let at: ChildNode | null = old.firstChild
  for (const child of wanted) {
    const known = sameChild(at, child)
    if (known === null) {
      old.insertBefore(document.adoptNode(child), at)
      continue
    }
    // What stands before it and is gone is taken away, so that it need not move: a field that moves loses the focus.
    while (at !== null && at !== known && isGone(at)) at = removed(at)
    if (known !== at) old.insertBefore(known, at)
    if (known instanceof Element && child instanceof Element) renew(known, child)
    else if (known.nodeValue !== child.nodeValue) known.nodeValue = child.nodeValue
    at = known.nextSibling
  }
  while (at !== null) at = removed(at)
}

/** Takes a child away, and answers the next one. */
export function removed (node: ChildNode): ChildNode | null {
  const next = node.nextSibling
  node.remove()
  return next
}

/** The child to be made like a newer one, from a place on: the one with its name, else the next one if it is of its kind without a name. */
export function sameChild (at: ChildNode | null, child: ChildNode): ChildNode | null {
  const name = nameOf(child)
  if (name === null) return at !== null && at.nodeName === child.nodeName && nameOf(at) === null ? at : null
  let found = at
  while (found !== null && (found.nodeName !== child.nodeName || nameOf(found) !== name)) found = found.nextSibling
  return found
}

/** The name of a part of the page: its own, or that of the first field in it. Frames have names of their own. A table is its rows'. */
export function nameOf (node: ChildNode): string | null {
  if (!(node instanceof Element) || node.matches('.scroll, table, tbody')) return null
  const named = '[name]:not(iframe)'
  const field = node.matches(named) ? node : node.querySelector(named)
  return node.getAttribute('aria-labelledby') ?? node.getAttribute('data-page') ?? field?.getAttribute('name') ?? null
}

/** What a reader has opened or folded stays so, unless something is wrong in it, and a frame keeps its name and what it shows. */
export function renewAttributes (old: Element, fresh: Element): void {
  const kept = ['open', 'name', 'formtarget', 'src']
  for (const { name } of [...old.attributes]) if (!kept.includes(name) && !fresh.hasAttribute(name)) old.removeAttribute(name)
  for (const { name, value } of [...fresh.attributes]) {
    const isKept = kept.includes(name) && (name !== 'open' || fresh.querySelector('.wrong') === null)
    if (!isKept && old.getAttribute(name) !== value) old.setAttribute(name, value)
  }
}
