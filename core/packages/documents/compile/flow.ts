import type { AddressBlock, ResolvedBlock, ResolvedDocument, ResolvedStyle } from '../model/document.ts'

/** The first blocks of a document without pages: its watermark as a line of text, and the header of its first page. */
export function opening ({ watermark, firstHeader, header, style }: ResolvedDocument): ResolvedBlock[] {
  const above = firstHeader ?? header
  if (watermark === undefined) return above
  return [
    { kind: 'paragraph', runs: [{ text: watermark, bold: true }], align: 'center', color: style.muted, size: style.size * 1.5 },
    ...above
  ]
}

/** An address as ordinary blocks, for formats without a window. The text beside it is kept. */
export function inFlow ({ window, sender, lines, beside }: AddressBlock, style: ResolvedStyle): ResolvedBlock[] {
  const text = lines.flatMap((line, index) => index === 0 ? line : [{ text: '\n' }, ...line])
  const address: ResolvedBlock[] = [
    ...sender.length === 0
      ? []
      : [{ kind: 'paragraph', runs: sender, align: 'start', color: style.muted, size: style.size * 0.75 } as const],
    ...text.length === 0 ? [] : [{ kind: 'paragraph', runs: text, align: 'start', color: style.text } as const]
  ]
  if (beside.length === 0) return address
  const columns = [{ width: 1, blocks: address }, { width: 1, blocks: beside }]
  return [{ kind: 'columns', gap: style.size, height: 0, columns: window === 'fr' ? columns.toReversed() : columns }]
}
