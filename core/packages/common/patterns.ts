/** How many quantifiers a pattern has at most: it is then tried in at most the third power of a text's length. */
const maxQuantifiers = 3

const atom = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|k<[^>]*>|[^])|\[(?:\\[^]|[^\]\\])*\]|\(\?(?:<?[=!]|:|<[^>]*>)|[^]/u
/** The groups: an atom, how often it stands, and whether that differs. */
const part = new RegExp(`(${atom.source})((?:([*+?])|\\{\\d+(,\\d*)?\\})\\??)?`, 'gu')

/**
 * Why the host does not try a pattern of a manifest on texts; undefined where it does. It searches in the thread that answers everybody, so
 * a pattern must end soon on any text: no quantifier stands behind a group, few in all, and one group alone has alternatives.
 */
export function patternFault (pattern: string): string | undefined {
  try {
    new RegExp(pattern, 'u')
  } catch {
    return 'Not a regular expression.'
  }
  return mayTakeLong(pattern)
    ? `On some texts this would be tried for hours: at most ${maxQuantifiers} of * + ? {n,m}, none of them behind a group, and one group with |.`
    : undefined
}

/** The pattern is a valid one. */
function mayTakeLong (pattern: string): boolean {
  let quantifiers = 0
  let choosing = 0
  /** For each open group, and the pattern itself, whether it has alternatives. */
  const groups = [false]
  for (const [, one = '', times, sign, range] of pattern.matchAll(part)) {
    if (one.startsWith('(')) groups.push(false)
    else if (one === '|') groups[groups.length - 1] = true
    else if (one === ')' && groups.pop() === true) choosing++
    if (one === ')' && times !== undefined) return true
    if (sign !== undefined || range !== undefined) quantifiers++
  }
  return quantifiers > maxQuantifiers || choosing + Number(groups[0]) > 1
}
