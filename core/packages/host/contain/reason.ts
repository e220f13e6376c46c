import { type JsonObject, shortened } from '@dispatch/common'

/** The most characters of a reason that are kept. */
const longest = 500

/**
 * What could turn a text of a stranger into something else where it is shown: control characters, line ends, and invisible characters such
 * as those that change the direction of a text. The two joiners stay: words and emoji need them.
 */
const unshown = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}]+/gu

/** A reason in one line, of at most 500 characters. A longer one ends in an ellipsis. */
export function plainReason (text: string): string {
  const line = text.replaceAll(unshown, ' ').trim()
  return line.length <= longest ? line : `${shortened(line, longest - 1)}…`
}

/** What a provider reports, with its `reason` in plain words: whoever declined or voided may have typed it. Without words there is none. */
export function withPlainReason<Report extends JsonObject> (report: Report): Report {
  const { reason, ...others } = report
  if (typeof reason !== 'string') return report
  const plain = plainReason(reason)
  return { ...others, ...(plain !== '' && { reason: plain }) } as Report
}
