import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Html, html } from '../../html.ts'
import { fill, type Words } from '../language/language.ts'
import type { ApiAnswer, Refusal } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import type { Confirmation, ConfirmRequest } from './confirm.ts'
import { notice, page, sentences } from './layout.ts'

/** With how many rows something is done at once. */
const maxAtOnce = 200

const prefix = 'row-'

/** What a row is called, and its id; undefined for one with which nothing can be done. */
type Named<Row> = (row: Row) => { id: string, name: string } | undefined

/** The boxes in front of the rows of a list. `form`: the id of the form that is sent with those that are ticked. */
export function picks<Row> (words: Words, form: string, of: Named<Row>): { title: Html, cell: (row: Row) => Html } {
  return {
    title: html`<span class="skip">${words.chosen}</span>`,
    cell (row) {
      const named = of(row)
      if (named === undefined) return html``
      const { id, name } = named
      return html`<input type="checkbox" form="${form}" name="${prefix}${id}" value="${id}" aria-label="${fill(words.choose, { name })}">`
    }
  }
}

/** The form below a list, with the button that does something with the rows that are ticked. `asks`: fields of the form. */
export function picksForm (
  words: Words,
  form: string,
  { action, label, asks = html`` }: { action: string, label: string, asks?: Html }
): Html {
  return html`<form method="post" id="${form}" action="${action}">${asks}<div class="actions"><span class="quiet">${words.manyDo}</span><button class="second">${label}</button></div></form>`
}

/** The ids of the rows that are ticked. */
function pickedIn (body: URLSearchParams): string[] {
  return [...body].filter(([name]) => name.startsWith(prefix)).map(([, id]) => id).slice(0, maxAtOnce)
}

/** What is done with many rows of a list. */
export type Many = {
  /** Below `/console`. */
  path: string
  /** The list, to which it leads back. */
  list: (request: Pick<FastifyRequest, 'params'>) => string
  section: string
  title: (visit: Visit) => string
  /** What will happen, where the reader is asked first. */
  says?: (visit: Visit) => string
  /** The fields of the form once more, with what is wrong at them, before anybody is asked; undefined where nothing is. */
  wrong?: (visit: Visit, body: URLSearchParams) => Html | undefined
  act: (visit: Visit, id: string, body: URLSearchParams) => Promise<ApiAnswer<unknown>>
}

/** A route that does something with each row that is ticked, and tells with which it could not. */
export function withMany (app: FastifyInstance, { path, list, section, title, says, wrong, act }: Many): void {
  function confirms (request: ConfirmRequest): Confirmation | undefined {
    const visit = visitOf(request)
    const picked = pickedIn(request.body)
    if (picked.length === 0 || says === undefined || wrong?.(visit, request.body) !== undefined) return undefined
    const act = title(visit)
    return { title: act, says: [says(visit)], touches: [[visit.words.chosen, picked.length]], button: act, back: list(request) }
  }

  app.post<{ Body: URLSearchParams }>(path, { config: says === undefined ? {} : { confirms } }, async (request, reply) => {
    const [visit, back, picked] = [visitOf(request), list(request), pickedIn(request.body)]
    const { words } = visit
    const again = picked.length === 0 ? undefined : wrong?.(visit, request.body)
    if (again !== undefined) {
      return reply.code(422).page(againPage(visit, { title: title(visit), section, back, path: request.url, picked }, again))
    }
    const refused: Refusal[] = []
    for (const id of picked) {
      const answer = await act(visit, id, request.body)
      if (!answer.ok) refused.push(answer)
    }
    const done = picked.length - refused.length
    const main = html`${
      picked.length === 0 ?
        notice('bad', html`<p>${words.manyNone}</p>`) :
        notice(refused.length === 0 ? 'good' : 'warn',
          html`<p>${fill(words.manyDone, { n: done, of: picked.length })}</p>${refused.map(({ error }) => sentences(words, error))}`)
    }<p><a href="${back}">${words.manyBack}</a></p>`
    return reply.code(picked.length === 0 ? 422 : 200).page(page({ ...visit, path: back }, { title: title(visit), section, main }))
  })
}

/** The form once more, with the rows that are ticked. */
function againPage (
  visit: Visit,
  { title, section, back, path, picked }: { title: string, section: string, back: string, path: string, picked: readonly string[] },
  fields: Html
): Html {
  const kept = picked.map((id) => html`<input type="hidden" name="${prefix}${id}" value="${id}">`)
  const main = html`<p><a href="${back}">${visit.words.manyBack}</a></p>
<form method="post" action="${path}" novalidate>${kept}${fields}<div class="actions"><button>${title}</button></div></form>`
  return page({ ...visit, path: back }, { title, section, main })
}
