import { opening } from '../compile/flow.ts'
import type { ResolvedDocument } from '../model/document.ts'
import { joinBounded } from '../model/output.ts'
import { withPlainSpaces } from '../text/inline.ts'
import { mailLines } from '../text/mail.ts'
import { messageLines } from '../text/message.ts'

/** The most characters in a line of mail: a reply quotes it and still stays below 78 (RFC 5322, 2.1.1). */
const lineWidth = 74

/** The plain-text alternative of a mail: header, body and footer, broken into lines. Throws a RenderError when it is too large. */
export function renderAlternative (document: ResolvedDocument): string {
  const { body, footer, locale } = document
  return joinBounded(ended(mailLines([...opening(document), ...body, ...footer], lineWidth, locale)))
}

/**
 * The text of a message such as an SMS: the watermark and the body, with each paragraph on one line of any length. Throws a RenderError
 * when it is too large.
 */
export function renderText (document: ResolvedDocument): string {
  const blocks = [...opening({ ...document, header: [], firstHeader: [] }), ...document.body]
  return joinBounded(ended(messageLines(blocks, document.locale))).trimEnd()
}

function* ended (lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${withPlainSpaces(line).trimEnd()}\n`
}
