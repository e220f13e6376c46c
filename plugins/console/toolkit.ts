/**
 * `@dispatch/plugins/console`: what the pages of a feature are made of.
 */
export { type Html, html } from '../html.ts'
export { choiceField, textField } from './form/fields.ts'
export { fill, withWords } from './language/language.ts'
export { badge, facts, folded, notice, page, sentences, table, time } from './pages/layout.ts'
export { type Api, type ApiAnswer, ApiRefused, withQuery } from './session/api.ts'
export { type Visit, visitOf } from './session/visit.ts'
