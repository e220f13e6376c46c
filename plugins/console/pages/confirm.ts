import type { FastifyRequest } from 'fastify'
import { type Html, html } from '../../html.ts'
import type { Visit } from '../session/visit.ts'
import { facts, page } from './layout.ts'

/**
 * What a reader is asked before something is done that cannot be taken back. `title`: the act and the name of the thing, such as
 * `Revoke the key “Shop”`. `says`: what will happen. `touches`: what it touches, with its number. `button`: the act. `back`: where nothing
 * has changed.
 */
export type Confirmation = {
  title: string
  says: readonly string[]
  touches?: readonly (readonly [what: string, number: string | number | null | undefined])[]
  /** Below what it says. */
  more?: Html
  button: string
  back: string
}

/** A form that was sent. What stands in its path is what the path of its route names. */
export type ConfirmRequest = FastifyRequest<{ Params: { id: string, code: string, name: string }, Body: URLSearchParams }>

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * How the reader is asked, before a form of the console does what cannot be taken back. A function says it of what was sent, or
     * answers undefined where there is nothing to ask; `form`: the form itself names the thing, and asks for a reason or a proof;
     * `undone`: there is a way back.
     */
    confirms?: ((request: ConfirmRequest) => Promise<Confirmation | undefined> | Confirmation | undefined) | 'form' | 'undone'
  }
}

/** Asks whether the reader means it. The page keeps what was sent to `path`, and sends it to the same path. */
export function confirmationPage (visit: Visit, { title, says, touches = [], more = html``, button, back }: Confirmation, { path, sent }: {
  path: string
  sent: readonly (readonly [string, string])[]
}): Html {
  const kept = sent.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  const counted = touches.map(([what, number]) => [what, typeof number === 'number' ? String(number) : number] as const)
  const main = html`<section class="narrow" aria-label="${title}">${says.map((sentence) => html`<p>${sentence}</p>`)}${
    counted.length === 0 ? html`` : facts(counted)
  }${more}<form method="post" action="${path}">${kept}<div class="actions"><button class="danger">${button}</button>
<a class="button second" href="${back}">${visit.words.confirmNot}</a></div></form></section>`
  return page({ ...visit, path: back }, { title, main })
}
