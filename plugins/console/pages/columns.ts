import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { manyField } from '../form/fields.ts'
import type { Words } from '../language/language.ts'
import { setCookie } from '../session/cookies.ts'
import { ownPath } from '../session/paths.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { table } from './layout.ts'

/** What cells know beside their row: the words of the page at least. */
type Known = { words: Words }

/** A column of a long list. */
export type Column<Row, More extends Known> = {
  title: (words: More['words']) => string
  cell: (row: Row, known: More) => Html | string
  isNumber?: true
}

/** A long list, whose reader chooses its columns. */
export type LongList<Row, More extends Known> = {
  /** By which the choice is kept. */
  name: string
  /** What each row is, in front of all columns. */
  first: Column<Row, More>
  /** In the order in which they stand. */
  columns: Readonly<Record<string, Column<Row, More>>>
  /** Those that are shown where nobody has chosen. */
  usual: readonly string[]
}

/** How many of the columns a phone shows: the first ones. */
const onPhone = 2

/** In seconds. A browser keeps its own choice, as it keeps its language: a phone has room for other columns than a desk. */
const year = 31_536_000

/** The longest that a browser keeps for all lists, in characters. */
const longest = 2_000

/** What a browser has kept, by list: `audit:at.object/batches:status`. */
function choicesIn (kept: string): Map<string, string[]> {
  return new Map(kept.split('/').flatMap((one) => {
    const [, name, columns] = /^(\w+):([\w.]+)$/.exec(one) ?? []
    return name === undefined || columns === undefined ? [] : [[name, columns.split('.')]]
  }))
}

/** Keeps the columns that were chosen for a list, and leads back to it. */
export const columnsPages: FastifyPluginCallback = (app, _options, done) => {
  app.post<{ Body: URLSearchParams }>('/columns', (request, reply) => {
    const { body } = request
    const choices = choicesIn(visitOf(request).columns)
    choices.set(body.get('list') ?? '', body.getAll('column'))
    const kept = [...choices].filter(([name, columns]) => [name, ...columns].every((word) => /^\w{1,40}$/.test(word)) && columns.length > 0)
      .map(([name, columns]) => `${name}:${columns.join('.')}`).join('/')
    if (kept.length <= longest) setCookie(reply, 'columns', kept, year)
    return reply.redirect(ownPath(body.get('back')), 303)
  })
  done()
}

/** The columns of a list that its reader has chosen; the usual ones where they have chosen none. */
export function columnsOf<Row, More extends Known> (
  { columns: kept }: Pick<Visit, 'columns'>,
  { name, columns, usual }: LongList<Row, More>
): readonly string[] {
  const chosen = choicesIn(kept).get(name) ?? []
  const known = Object.keys(columns).filter((column) => chosen.includes(column))
  return known.length === 0 ? usual : known
}

/** The form in which the reader of a list chooses its columns. */
export function columnsForm<Row, More extends Known> (
  visit: Omit<Visit, 'words'> & { words: More['words'] },
  list: LongList<Row, More>
): Html {
  const { words, path } = visit
  const options = Object.entries(list.columns).map(([value, { title }]) => ({ value, label: title(words) }))
  return html`<details class="columns"><summary>${words.columns}</summary><form method="post" action="/console/columns"><input type="hidden" name="list" value="${list.name}"><input type="hidden" name="back" value="${path}">${
    manyField({ name: 'column', label: words.columnsShown, help: words.columnsHelp, options, values: columnsOf(visit, list) })
  }<div class="actions"><button class="second">${words.show}</button></div></form></details>`
}

/** `pick`: what stands in front of each row, to choose it. `act`: what can be done with each row, behind all columns. */
type Shown<Row, More> = {
  label: string
  rows: readonly Row[]
  known: More
  shown: readonly string[]
  pick?: { title: Html, cell: (row: Row) => Html }
  act?: { title: string, cell: (row: Row) => Html }
}

/** The table of a long list, with the columns that are shown: a phone has the first two. */
export function longTable<Row, More extends Known> (
  { first, columns }: LongList<Row, More>,
  { label, rows, known, shown, pick, act }: Shown<Row, More>
): Html {
  const chosen = shown.flatMap((name) => columns[name] ?? [])
  const made = rows.map((row) =>
    html`<tr>${pick === undefined ? html`` : html`<td class="pick">${pick.cell(row)}</td>`}<th scope="row">${first.cell(row, known)}</th>${
      chosen.map(({ cell, isNumber }, index) => {
        const classes = [...isNumber === true ? ['count'] : [], ...index >= onPhone ? ['beside-phone'] : []]
        return html`<td${classes.length === 0 ? html`` : html` class="${classes.join(' ')}"`}>${cell(row, known)}</td>`
      })
    }${act === undefined ? html`` : html`<td>${act.cell(row)}</td>`}</tr>\n`
  )
  const titles = chosen.map(({ title }, index) => ({ title: title(known.words), isBeside: index >= onPhone }))
  return table(label, [...pick === undefined ? [] : [pick.title], first.title(known.words), ...titles,
    ...act === undefined ? [] : [act.title]], made)
}

/** A long list with the form in which its reader chooses the columns. */
export function longList<Row, More extends Known> (
  visit: Omit<Visit, 'words'> & { words: More['words'] },
  list: LongList<Row, More>,
  shown: Omit<Shown<Row, More>, 'shown'>
): Html {
  return html`${columnsForm(visit, list)}${longTable(list, { ...shown, shown: columnsOf(visit, list) })}`
}
