import type { Json } from '@dispatch/common'
import { type Format, type TextKind, usualFormats } from '@dispatch/documents'
import type { Words } from './words.ts'

/** How a field of a block is typed. `expression`: what stands between braces, without them. */
export type Input = 'text' | 'lines' | 'expression' | 'number' | 'flag' | 'picture' | 'partial' | 'layout' | readonly string[]

/** A field of a form: `path` leads to it from its block, or from its row. `always`: it is kept when it is empty. */
export type FormField = { path: string, input: Input, always?: true }

/** What a new block or row says: `list` is a list of the data, and `partial` a partial of the company. */
export type Fresh = (words: Words, known: { list: string, partial: string }) => Json

/** Rows of a block, such as the columns of a table. */
export type FormRows = { path: string, fields: readonly FormField[], fresh: Fresh }

/**
 * The form of a kind of blocks. `short`: a block of this kind may be its text alone. `hidesFrom`: what is usually made of the
 * template, where it is not offered.
 */
export type BlockForm = {
  fields: readonly FormField[]
  rows?: readonly FormRows[]
  short?: true
  fresh: Fresh
  hidesFrom?: readonly Format[]
}

const field = (path: string, input: Input): FormField => ({ path, input })
const needed = (path: string, input: Input): FormField => ({ path, input, always: true })

const aligns = ['start', 'center', 'end', 'left', 'right'] as const
const colours = ['text', 'accent', 'muted'] as const
const below = (at: string, fields: readonly FormField[]): FormField[] => fields.map((one) => ({ ...one, path: `${at}/${one.path}` }))

const look = [field('align', aligns), field('color', colours), field('size', 'number')]
const size = [field('width', 'number'), field('height', 'number')]
const content = [
  field('value', 'expression'),
  field('type', ['text', 'money', 'number', 'percent', 'date']),
  field('digits', 'number'),
  field('text', 'text')
]
const total = [
  needed('label', 'text'),
  ...content,
  field('if', 'expression'),
  field('strong', 'flag'),
  field('each', 'expression'),
  field('as', 'text')
]
const freshTotal: Fresh = (words) => ({ label: words.blockField_label, text: '' })
const freshEntry = freshTotal
const freshColumn: Fresh = (words) => ({ header: words.blockField_header, text: '' })
const textOf: Fresh = (words) => ({ paragraph: words.block_paragraph })
const messages: readonly Format[] = [usualFormats.message]
const unprinted: readonly Format[] = [usualFormats.mail, usualFormats.message]

/** The forms of all kinds of blocks, in the order in which they are offered. */
export const blockForms: Readonly<Record<string, BlockForm>> = {
  heading: {
    short: true,
    fields: below('heading', [needed('text', 'text'), field('level', ['1', '2', '3']), ...look]),
    fresh: (words) => ({ heading: words.block_heading }),
    hidesFrom: messages
  },
  paragraph: { short: true, fields: below('paragraph', [needed('text', 'lines'), ...look]), fresh: textOf },
  image: {
    fields: below('image', [field('asset', 'picture'), field('value', 'expression'), field('alt', 'text'), ...size,
      field('align', aligns)]),
    fresh: (words) => ({ image: { value: 'brand.logo', height: 14, alt: words.brandLogo } }),
    hidesFrom: messages
  },
  address: {
    fields: below('address', [field('window', ['din-5008-a', 'din-5008-b', 'fr']), needed('text', 'lines'), field('sender', 'text')]),
    fresh: (words) => ({ address: { window: 'din-5008-b', text: words.block_address } }),
    hidesFrom: unprinted
  },
  keyValues: {
    fields: below('keyValues', [field('labels', 'number'), field('values', 'number')]),
    rows: [{
      path: '/keyValues/entries',
      fields: [needed('label', 'text'), ...content, field('if', 'expression')],
      fresh: freshEntry
    }],
    fresh: (words, known) => ({ keyValues: { entries: [freshEntry(words, known)] } })
  },
  table: {
    fields: below('table', [
      needed('each', 'expression'),
      needed('as', 'text'),
      field('groups/each', 'expression'),
      field('groups/as', 'text'),
      field('groups/heading', 'text')
    ]),
    rows: [
      {
        path: '/table/columns',
        fields: [needed('header', 'text'), ...content, field('width', 'number'), field('align', aligns), field('if', 'expression')],
        fresh: freshColumn
      },
      { path: '/table/groups/totals', fields: total, fresh: freshTotal },
      { path: '/table/totals', fields: total, fresh: freshTotal }
    ],
    fresh: (words, known) => ({ table: { each: known.list, as: 'line', columns: [freshColumn(words, known)] } }),
    hidesFrom: messages
  },
  columns: {
    fields: below('columns', [field('gap', 'number'), field('height', 'number')]),
    rows: [{ path: '/columns/items', fields: [field('width', 'number')], fresh: (words, known) => ({ do: [textOf(words, known)] }) }],
    fresh: (...all) => ({ columns: { gap: 5, items: [{ do: [textOf(...all)] }, { do: [textOf(...all)] }] } }),
    hidesFrom: messages
  },
  group: { fields: [], fresh: (...all) => ({ group: [textOf(...all)] }), hidesFrom: messages },
  if: { fields: [needed('if', 'expression')], fresh: (...all) => ({ if: 'true', then: [textOf(...all)] }) },
  each: {
    fields: [needed('each', 'expression'), needed('as', 'text'), field('pageBreak', 'flag')],
    fresh: (words, known) => ({ each: known.list, as: 'line', do: [textOf(words, known)] })
  },
  button: {
    fields: below('button', [needed('text', 'text'), needed('url', 'expression')]),
    fresh: (words) => ({ button: { text: words.block_button, url: '"https://www.example.com/"' } }),
    hidesFrom: messages
  },
  code: {
    fields: below('code', [
      field('qr', 'expression'),
      field('code128', 'expression'),
      field('ean13', 'expression'),
      field('epc', 'flag'),
      field('caption', 'text'),
      field('alt', 'text'),
      ...size,
      field('align', aligns)
    ]),
    fresh: (words) => ({ code: { qr: '"https://www.example.com/"', width: 25, alt: words.block_code } }),
    hidesFrom: messages
  },
  signature: {
    fields: below('signature', [needed('signer', 'number'), field('label', 'text'), ...size]),
    fresh: () => ({ signature: { signer: 1 } }),
    hidesFrom: unprinted
  },
  spacer: { fields: [needed('spacer', 'number')], fresh: () => ({ spacer: 5 }), hidesFrom: messages },
  rule: {
    fields: below('rule', [field('color', colours), field('thickness', 'number')]),
    fresh: () => ({ rule: { thickness: 0.5 } }),
    hidesFrom: messages
  },
  pageBreak: { fields: [], fresh: () => ({ pageBreak: true }), hidesFrom: unprinted },
  partial: { fields: [needed('partial', 'partial')], fresh: (_words, known) => ({ partial: known.partial }) }
}

const pageFields = [
  field('page/size', ['A4', 'Letter', 'auto']),
  field('page/orientation', ['portrait', 'landscape']),
  ...['top', 'right', 'bottom', 'left'].map((side) => field(`page/margins/${side}`, 'number')),
  field('style/font', ['sans', 'serif', 'mono']),
  field('style/size', 'number'),
  field('style/lineHeight', 'number'),
  ...colours.map((colour) => field(`style/${colour}`, 'text'))
]

const templateForm = [
  needed('name', 'text'),
  field('subject', 'text'),
  field('preheader', 'text'),
  field('title', 'text'),
  field('watermark', 'text'),
  field('layout', 'layout'),
  field('brand', 'flag'),
  ...pageFields
]

/** What a document or a layout is: the form above its blocks. A partial is its blocks alone. */
export const documentForms: Readonly<Record<TextKind, readonly FormField[]>> = {
  template: templateForm,
  layout: [field('watermark', 'text'), ...pageFields],
  partial: []
}
