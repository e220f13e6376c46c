import { type Html, html } from '../../html.ts'
import { fill } from '../language/language.ts'
import type { CallbackView } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'
import { badge, time } from './layout.ts'

/**
 * Callbacks with their attempts. An admin sends one again by a form to its id below `path`. `linked`: each leads to its dispatch.
 */
export function callbackList ({ words, actor }: Visit, callbacks: readonly CallbackView[], path: string, linked?: 'linked'): Html {
  return html`<ul class="list">${
    callbacks.map(({ id, dispatchId, type, receiver, state, attempts, createdAt }) =>
      html`<li><span>${
        linked === undefined || dispatchId === undefined ? type : html`<a href="/console/dispatches/${dispatchId}">${type}</a>`
      }</span> <span class="quiet">${receiver}</span> ${badge(words, 'state', state)} <details><summary>${
        fill(words.attempts, { n: attempts.length })
      }</summary><ol>${
        attempts.map((attempt) =>
          html`<li>${time(attempt.at)} ${attempt.status === undefined ? '' : String(attempt.status)} ${attempt.reason ?? ''}</li>`
        )
      }</ol></details>${
        actor.role === 'admin' && state !== 'pending'
          ? html`<form method="post" action="${path}/${id}"><button class="second">${words.sendAgain}</button></form>`
          : html``
      } ${time(createdAt)}</li>\n`
    )
  }</ul>`
}
