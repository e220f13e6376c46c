import fc from 'fast-check'
import { formatCell } from '../compile/format.ts'
import type { AddressBlock, Cell, ResolvedBlock, ResolvedDocument, ResolvedTotal, TextRun } from '../model/document.ts'

/** A document with this body. */
export function documentOf (body: ResolvedBlock[], more: Partial<ResolvedDocument> = {}): ResolvedDocument {
  return {
    title: 'Title',
    author: '',
    preheader: '',
    locale: 'en-GB',
    page: { width: 595, height: 842, top: 50, right: 50, bottom: 50, left: 50 },
    style: { font: 'sans', size: 10, lineHeight: 1.4, text: '#111111', accent: '#1d4e89', muted: '#666666' },
    header: [],
    footer: [],
    body,
    ...more
  }
}

const locale = 'en-GB'
const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40 }),
  fc.lorem({ maxCount: 30 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.constantFrom('a\nb', 'x\u00a0y', '<b>&"\'', 'مرحبا', '发票', '\u0001', 'a\r\nb', '{{ x }}', 'x'.repeat(200))
)
const link = fc.constantFrom('https://example.com/a?b=c&d', 'mailto:a@b.example', 'tel:+1555', 'javascript:alert(1)',
  'https://example.com/"onclick=x')
const emphasis = { bold: fc.constant(true), italic: fc.constant(true), link }
const run: fc.Arbitrary<TextRun> = fc.record({ text, ...emphasis }, { requiredKeys: ['text'] })
const runs = fc.array(run, { minLength: 1, maxLength: 4 })
const maybeRuns = fc.array(run, { maxLength: 2 })
const align = fc.constantFrom('start', 'center', 'end', 'left', 'right')
const cell: fc.Arbitrary<Cell> = fc.oneof(
  fc.constant({ type: 'empty' } as const),
  fc.record({ type: fc.constant('text'), runs }),
  fc.record({ type: fc.constant('money'), value: fc.integer({ min: -1e9, max: 1e9 }), currency: fc.constantFrom('EUR', 'JPY') }),
  fc.record({ type: fc.constantFrom('number', 'percent'), value: fc.integer({ min: -1e6, max: 1e6 }) }),
  fc.record({ type: fc.constant('date'), value: fc.constantFrom('2026-03-14', '1999-12-31') })
)
const textBlock = { runs, align, color: fc.constant('#222222') }
const totals = fc.array(fc.record({ label: runs, cell, strong: fc.boolean() }), { maxLength: 2 })
const table = fc.integer({ min: 1, max: 6 }).chain((count) =>
  fc.record({
    kind: fc.constant('table'),
    columns: fc.array(fc.record({ header: runs, width: fc.integer({ min: 1, max: 5 }), align }), { minLength: count, maxLength: count }),
    sections: fc.array(
      fc.record({ heading: maybeRuns, rows: fc.array(fc.array(cell, { minLength: count, maxLength: count }), { maxLength: 4 }), totals }),
      { minLength: 1, maxLength: 2 }
    ),
    totals
  })
)

const { block } = fc.letrec<{ block: ResolvedBlock }>((tie) => ({
  block: fc.oneof({ maxDepth: 3 }, fc.record({ kind: fc.constant('paragraph'), ...textBlock }),
    fc.record({ kind: fc.constant('heading'), level: fc.integer({ min: 1, max: 3 }), ...textBlock }), fc.record({
      kind: fc.constant('keyValues'),
      labels: fc.constant(1),
      values: fc.constant(2),
      entries: fc.array(fc.record({ label: runs, cell }), { minLength: 1, maxLength: 3 })
    }), table, fc.record({
      kind: fc.constant('code'),
      symbology: fc.constant('code128'),
      modules: fc.constant(() => ({ columns: 3, rows: 1, dark: [{ x: 1, y: 0, width: 1, height: 1 }] })),
      width: fc.constant(60),
      height: fc.constant(20),
      align,
      alt: text,
      label: fc.oneof(fc.constant(''), text)
    }), fc.record({ kind: fc.constant('group'), blocks: fc.array(tie('block'), { minLength: 1, maxLength: 3 }) }), fc.record({
      kind: fc.constant('address'),
      window: fc.constantFrom('din-5008-a', 'din-5008-b', 'fr'),
      lines: fc.array(runs, { maxLength: 3 }),
      sender: maybeRuns,
      beside: fc.array(tie('block'), { maxLength: 2 })
    }), fc.record({ kind: fc.constant('button'), text, url: link }),
    fc.record({ kind: fc.constant('signature'), signer: fc.constant(1), label: runs, width: fc.constant(100), height: fc.constant(50) }),
    fc.constantFrom<ResolvedBlock>({ kind: 'spacer', height: 10 }, { kind: 'pageBreak' }, { kind: 'rule', color: '#333333', thickness: 1 }),
    fc.record({
      kind: fc.constant('columns'),
      gap: fc.constant(10),
      height: fc.constantFrom(0, 50),
      columns: fc.array(fc.record({ width: fc.constant(1), blocks: fc.array(tie('block'), { maxLength: 3 }) }), {
        minLength: 1,
        maxLength: 3
      })
    }))
}))

const blocks = fc.array(block, { maxLength: 5 })

/** Documents of all kinds of blocks, inside each other, with texts of all kinds. */
export const anyDocument: fc.Arbitrary<ResolvedDocument> = fc.record({
  body: blocks,
  header: fc.array(block, { maxLength: 2 }),
  footer: fc.array(block, { maxLength: 2 })
})
  .map(({ body, header, footer }) => documentOf(body, { header, footer }))

/** Every text of the blocks, in their order. */
export function textsOf (blocks: readonly ResolvedBlock[]): string[] {
  return blocks.flatMap((block) => {
    switch (block.kind) {
      case 'heading':
      case 'paragraph':
        return runTexts(block.runs)
      case 'columns':
        return block.columns.flatMap((column) => textsOf(column.blocks))
      case 'keyValues':
        return block.entries.flatMap(({ label, cell }) => [...runTexts(label), ...cellTexts(cell)])
      case 'table':
        return [
          ...block.columns.flatMap(({ header }) => runTexts(header)),
          ...block.sections.flatMap(
            ({ heading, rows, totals }) => [...runTexts(heading), ...rows.flat().flatMap(cellTexts), ...totalTexts(totals)]
          ),
          ...totalTexts(block.totals)
        ]
      case 'code':
        return [block.label]
      case 'group':
        return textsOf(block.blocks)
      case 'address':
        return addressTexts(block)
      case 'button':
        return [block.text]
      case 'signature':
        return runTexts(block.label)
      default:
        return []
    }
  })
}

/** What stands beside a window at the right comes first. */
function addressTexts ({ window, sender, lines, beside }: AddressBlock): string[] {
  const address = [...runTexts(sender), ...lines.flatMap(runTexts)]
  return window === 'fr' ? [...textsOf(beside), ...address] : [...address, ...textsOf(beside)]
}

function totalTexts (totals: readonly ResolvedTotal[]): string[] {
  return totals.flatMap(({ label, cell }) => [...runTexts(label), ...cellTexts(cell)])
}

function runTexts (runs: readonly TextRun[]): string[] {
  return runs.map((run) => 'text' in run ? run.text : '1')
}

function cellTexts (cell: Cell): string[] {
  return runTexts(formatCell(cell, locale))
}

/** What stands between white space of any kind. */
export function wordsIn (text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
