/** What a page says itself: without what is marked as English, what is code, and the names of things that were made. */
export function ownText (page: string): string {
  const empty = /^(?:area|base|br|col|hr|img|input|link|meta|source|wbr)$/
  const foreign = /^<(?:code|pre|textarea|script|style|option|datalist|title|footer)\b|\slang="en"/
  const said: string[] = []
  let depth = 0
  for (const [, tag = '', name = '', content = ''] of page.matchAll(/(<\/?(\w*)[^>]*>)([^<]*)/g)) {
    if (tag.startsWith('</')) depth = Math.max(0, depth - 1)
    else if (!empty.test(name) && (depth > 0 || foreign.test(tag))) depth++
    if (depth === 0) said.push(content)
  }
  return said.join(' ')
}

/** Words of English that no French page has, and operations of the API. */
export const english = /\b(?:the|of|and|is|are|with|which|this|that|was|must|expected|required|your)\b|\b(?:GET|POST|PUT|DELETE) \//i
