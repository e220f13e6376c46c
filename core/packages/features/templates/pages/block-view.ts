import { isRecord } from '@dispatch/common'
import type { BlockList, DataField, Format, OutlinedBlock, TemplateOutline } from '@dispatch/documents'
import { checkField, choiceField, fill, type Html, html, linesField, type PlacedProblem, sentenceOf,
  textField } from '@dispatch/plugins/console'
import { shownAs, type ShownField, type ShownForm, typedOf, wholeDocument } from './block-fields.ts'
import { blockForms } from './block-forms.ts'
import type { Words } from './words.ts'

/** What stands in the list of blocks. `focus`: the value of the button, or the name of the field, that has the focus. */
export type BlocksView = {
  words: Words
  outline: TemplateOutline
  open: string
  form: ShownForm | undefined
  /** Where a block is being added: its list and its number. */
  adding: { list: string, index: number } | undefined
  /** What is usually made of the template. */
  made: Format
  /** By the place of the block; those of the document itself under ''. */
  faults: ReadonlyMap<string, readonly PlacedProblem[]>
  data: readonly DataField[]
  pictures: readonly string[]
  partials: readonly { name: string, kind: string }[]
  focus: string
}

/** The document as a list of blocks. What is open has its form; the others say what they are. */
export function blocksView (view: BlocksView): Html {
  const { words, outline, open } = view
  const isOpen = open === wholeDocument
  // A partial is its blocks alone: there is nothing to open above them.
  const label = outline.kind === 'partial'
    ? html``
    : opener(view, wholeDocument,
      html`<strong>${outline.kind === 'layout' ? words.blockLayout : words.blockDocument}</strong> <code>${
        typedOf(outline.value['name'])
      }</code>`)
  return html`<div class="blocks"><input type="hidden" name="open" value="${open}"><div class="block${
    isOpen ? ' open' : ''
  }" data-block="">${label}${wrong(view, '')}${isOpen && outline.kind !== 'partial' ? panel(view) : html``}</div>${
    outline.lists.filter(({ path }) => path !== '/firstHeader' || outline.value['firstHeader'] !== undefined)
      .map((list) => ({ list, part: wordOf(words, 'blockPart', list.path.slice(1)) }))
      .map(({ list, part }) => html`<h3>${part}</h3>${listView(view, list, part)}`)
  }<datalist id="data-fields">${view.data.map(({ path }) => html`<option value="${path}">`)}</datalist></div>`
}

/** The word for a name of the language of templates; the name itself where there is none. */
export function wordOf (words: Words, kind: string, name: string): string {
  const [texts, key]: [Readonly<Record<string, string>>, string] = [words, `${kind}_${name}`]
  return Object.hasOwn(texts, key) ? texts[key] ?? name : name
}

function listView (view: BlocksView, list: BlockList, label: string): Html {
  const { words, adding } = view
  const shown = list.blocks.map((block) => blockView(view, block))
  const items = adding?.list === list.path ? shown.toSpliced(adding.index, 0, html`<li>${choices(view)}</li>`) : shown
  const at = `${list.path}:${String(list.blocks.length)}`
  return html`${items.length === 0 ? html`` : html`<ol>${items}</ol>`}<p><button class="plain" name="do" value="add:${at}" aria-label="${
    fill(words.blockAddTo, { list: label })
  }">${words.blockAdd}</button></p>`
}

function blockView (view: BlocksView, block: OutlinedBlock): Html {
  const { words, open } = view
  const { path, kind, lists } = block
  const isOpen = open === path
  const label = html`<strong>${kind === undefined ? words.blockUnknown : wordOf(words, 'block', kind)}</strong> <code>${
    said(view, block)
  }</code>`
  return html`<li class="block${isOpen ? ' open' : ''}" data-block="${path}">${opener(view, path, label)}${wrong(view, path)}${
    isOpen ? panel(view) : html``
  }${lists.map((list) => html`<p class="quiet">${partOf(words, block, list)}</p>${listView(view, list, partOf(words, block, list))}`)}</li>`
}

function partOf (words: Words, { path, kind }: OutlinedBlock, list: BlockList): string {
  const number = /\/items\/(\d+)\/do$/.exec(list.path.slice(path.length))?.[1]
  if (kind === 'columns' && number !== undefined) return fill(words.blockColumn, { n: Number(number) + 1 })
  return wordOf(words, 'blockPart', list.path.slice(list.path.lastIndexOf('/') + 1))
}

function opener ({ open, focus }: BlocksView, path: string, label: Html): Html {
  const isOpen = open === path
  const value = isOpen ? 'close' : `open:${path}`
  return html`<button class="plain opener" name="do" value="${value}" aria-expanded="${String(isOpen)}"${
    focused(focus, value)
  }>${label}</button>`
}

const focused = (focus: string, value: string): Html => focus === value ? html` autofocus` : html``

/** The beginning of what a block says, with the words of the first language. */
function said ({ outline }: BlocksView, { kind, value }: OutlinedBlock): string {
  const inner = kind === undefined || !isRecord(value) ? value : value[kind]
  const texts = isRecord(outline.value['texts']) ? Object.values(outline.value['texts'])[0] : undefined
  const text = typeof inner === 'object' && inner !== null ? firstText(inner as Readonly<Record<string, unknown>>) : typedOf(inner)
  return text.replaceAll(/\{\{ t\.(\w+) \}\}/g, (whole, name: string) => isRecord(texts) ? typedOf(texts[name]) || whole : whole)
    .replaceAll(/\s+/g, ' ').slice(0, 70)
}

function firstText (value: Readonly<Record<string, unknown>>): string {
  return ['text', 'value', 'asset', 'each', 'label', 'qr', 'code128', 'ean13'].map((name) => typedOf(value[name])).find((text) =>
    text !== ''
  ) ?? ''
}

/** Where a problem is, before its sentence; one of the source stands at its block. */
function placeOf (words: Words, path: string): Html {
  if (path === '/source') return html``
  return path === '/name' ? html`${words.name}${words.colon}` : html`<code>${path}</code> `
}

/** What is wrong with a block, said where it stands. */
function wrong ({ words, faults }: BlocksView, path: string): Html {
  const own = faults.get(path) ?? []
  return own.length === 0
    ? html``
    : html`<ul class="wrong">${own.map((problem) => html`<li>${placeOf(words, problem.path)}${sentenceOf(words, problem)}</li>`)}</ul>`
}

/** The kinds of blocks to choose from. */
function choices ({ words, adding, made }: BlocksView): Html {
  const { list, index } = adding ?? { list: '', index: 0 }
  const kinds = Object.entries(blockForms).filter(([, { hidesFrom = [] }]) => !hidesFrom.includes(made))
  return html`<fieldset class="block open"><legend>${words.blockWhich}</legend><div class="actions">${
    kinds.map(([kind], nth) =>
      html`<button class="second" name="do" value="insert:${list}:${String(index)}:${kind}"${nth === 0 ? html` autofocus` : html``}>${
        wordOf(words, 'block', kind)
      }</button>`
    )
  }<button class="plain" name="do" value="close">${words.blockNone}</button></div></fieldset>`
}

/** The form of what is open. */
function panel (view: BlocksView): Html {
  const { words, open, form } = view
  const tools = open === wholeDocument ? html`` : toolsOf(view, open)
  if (form === undefined) {
    return html`<div class="panel">${tools}<p>${words.blockUnknownHelp}</p><p><button class="second" name="do" value="text">${words.editText}</button></p></div>`
  }
  const texts = form.texts.map(({ name, fields }) =>
    html`<fieldset class="line"><legend>${fill(words.blockText, { name })}</legend>${
      fields.map((field) => control(view, field, field.language))
    }</fieldset>`
  )
  const kind = form.block?.kind ?? 'document'
  return html`<div class="panel">${tools}${texts}<div class="types">${
    form.fields.map((field) => control(view, field, labelOf(words, kind, field)))
  }</div>${form.rows.map((rows) => rowsView(view, rows))}${inserter(view, form)}</div>`
}

function labelOf (words: Words, kind: string, { path }: ShownField): string {
  const [name = '', around = ''] = path.split('/').reverse()
  const own = [`${around}_${name}`, `${kind}_${name}`].find((key) => wordOf(words, 'blockField', key) !== key)
  return wordOf(words, 'blockField', own ?? name)
}

function control (view: BlocksView, { path, input, value, always }: ShownField, label: string): Html {
  const { words, focus } = view
  const name = `v:${path}`
  const text = typedOf(value)
  const common = { name, label, value: text, ...focus === name && { autofocus: true as const } }
  // A field would take away what it cannot show.
  if (typeof value === 'object' && value !== null) return html``
  if (input === 'flag') return checkField({ ...common, checked: value === true })
  const options = optionsOf(view, input)
  if (options !== undefined) {
    const known = options.some((option) => option.value === text) || text === '' ? options : [...options, { value: text, label: text }]
    return choiceField({ ...common, options: known, ...(always === true && text !== '') ? {} : { none: words.blockUsual } })
  }
  if (input === 'lines' || text.includes('\n')) return linesField(common)
  if (input !== 'expression') return textField(common)
  return html`<div class="field"><label for="f-${name}">${label}</label><input id="f-${name}" name="${name}" value="${text}" list="data-fields" autocomplete="off"${
    focused(focus, name)
  }></div>`
}

function optionsOf ({ words, pictures, partials }: BlocksView, input: ShownField['input']): { value: string, label: string }[] | undefined {
  if (input === 'picture') return pictures.map((value) => ({ value, label: value }))
  if (input === 'partial' || input === 'layout') {
    return partials.filter(({ kind }) => kind === input).map(({ name }) => ({ value: name, label: name }))
  }
  return typeof input === 'string' ? undefined : input.map((value) => ({ value, label: wordOf(words, 'blockOption', value) }))
}

function toolsOf ({ words, focus, outline }: BlocksView, path: string): Html {
  const index = Number(path.slice(path.lastIndexOf('/') + 1))
  const siblings = siblingsOf(outline.lists, path)
  const tool = (value: string, label: string, look = 'second'): Html =>
    html`<button class="${look}" name="do" value="${value}"${focused(focus, value)}>${label}</button>`
  return html`<div class="actions">${index > 0 ? tool(`move:${path}:-1`, words.blockUp) : html``}${
    index < siblings - 1 ? tool(`move:${path}:1`, words.blockDown) : html``
  }${tool(`duplicate:${path}`, words.blockDuplicate)}${
    tool(`add:${path.slice(0, path.lastIndexOf('/'))}:${String(index + 1)}`, words.blockAddBelow)
  }${tool(`remove:${path}`, words.blockRemove, 'danger')}</div>`
}

/** How many blocks stand in the list of a block. */
function siblingsOf (lists: readonly BlockList[], path: string): number {
  const all = [...lists]
  for (const list of all) {
    if (list.blocks.some((block) => block.path === path)) return list.blocks.length
    all.push(...list.blocks.filter((block) => path.startsWith(`${block.path}/`)).flatMap((block) => block.lists))
  }
  return 0
}

function rowsView (view: BlocksView, { path, rows }: ShownForm['rows'][number]): Html {
  const { words, focus, form } = view
  const title = wordOf(words, 'blockRows', path.slice((form?.block?.path.length ?? 0) + 1).replaceAll('/', '_'))
  const button = (value: string, label: string, n: number): Html =>
    html`<button class="plain" name="do" value="${value}" aria-label="${label}${words.colon}${title} ${String(n)}"${
      focused(focus, value)
    }>${label}</button>`
  return html`${
    rows.map((fields, index) =>
      html`<fieldset class="line"><legend>${title} ${String(index + 1)}</legend><div class="types">${
        fields.map((field) => control(view, field, labelOf(words, form?.block?.kind ?? '', field)))
      }</div><div class="actions">${index > 0 ? button(`move:${path}/${String(index)}:-1`, words.blockUp, index + 1) : html``}${
        index < rows.length - 1 ? button(`move:${path}/${String(index)}:1`, words.blockDown, index + 1) : html``
      }${button(`remove:${path}/${String(index)}`, words.blockRemove, index + 1)}</div></fieldset>`
    )
  }<p><button class="second" name="do" value="row:${path}"${focused(focus, `row:${path}`)}>${
    fill(words.blockRowAdd, { rows: title })
  }</button></p>`
}

/** Chooses a field of the data, and puts it into a text of the form. */
function inserter ({ words, data }: BlocksView, form: ShownForm): Html {
  const kind = form.block?.kind ?? 'document'
  const into = [
    ...form.fields.filter(({ input }) => input === 'text' || input === 'lines' || input === 'expression').filter(({ path }) =>
      !/\/(as|name)$/.test(path)
    )
      .map((field) => ({ value: field.path, label: labelOf(words, kind, field) })),
    ...form.rows.flatMap(({ rows, path }) => {
      const title = wordOf(words, 'blockRows', path.slice((form.block?.path.length ?? 0) + 1).replaceAll('/', '_'))
      return rows.flatMap((fields, index) =>
        fields.filter(({ input, path: at }) => (input === 'text' || input === 'expression') && !at.endsWith('/as'))
          .map((field) => ({ value: field.path, label: `${title} ${String(index + 1)}, ${labelOf(words, kind, field)}` }))
      )
    }),
    ...form.texts.flatMap(({ name, fields }) => fields.map(({ path, language }) => ({ value: path, label: `${name}, ${language}` })))
  ]
  const fields = data.filter(({ type }) => type !== 'list')
  if (into.length === 0 || fields.length === 0) return html``
  return html`<fieldset class="line"><legend>${words.blockInsert}</legend><p class="help" id="insert-help">${words.blockInsertHelp}</p>
<div class="filters" data-insert>${
    choiceField({
      name: 'field',
      label: words.blockInsertWhich,
      options: fields.map((field) => ({
        value: shownAs(field),
        label: field.sample === undefined ? field.path : `${field.path} (${field.sample})`
      }))
    })
  }${
    choiceField({ name: 'into', label: words.blockInsertInto, options: into })
  }<button class="second" name="do" value="field">${words.blockInsertDo}</button></div></fieldset>`
}
