/**
 * `@dispatch/plugins/console`: what the pages of a feature are made of.
 */
export { boundaryOf, readForm } from '../hooks/form.ts'
export { type Html, html } from '../html.ts'
export { editorScript } from './browser/editor.ts'
export { choiceField, manyField, radioField, textField } from './form/fields.ts'
export { isFiltered } from './form/filter.ts'
export { objectIn, pretty } from './form/json.ts'
export { settingsFields } from './form/settings.ts'
export { faultsOf, longTextField, type PlacedProblem, placeOf, problemsOf } from './form/text.ts'
export { documentTypeName, fill, optionsFor, serviceNames, withWords, wordFor, type Words } from './language/language.ts'
export { badge, copied, facts, folded, notice, page, sentences, table, time } from './pages/layout.ts'
export { proofForm, refusedProof, statusOf } from './pages/proof.ts'
export { previewFrame, savedFormats, sendNoPreview, sendPreview, sendToScript } from './pages/preview.ts'
export { codesPage, secondFactorPage } from './pages/second-factor.ts'
export type { AnswerForm } from './pages/verification-forms.ts'
export { type AdapterDetail, type AdapterView, type Api, type ApiAnswer, type ApiFile, ApiRefused, type CatalogView, type CompanyView,
  type ConfigurationView, type MyConfig, type Refusal, withQuery } from './session/api.ts'
export { proofIn, ProofNeeded } from './session/proof.ts'
export { offerVerification } from './session/verification.ts'
export { type Visit, visitOf, visitWith } from './session/visit.ts'
export { otherServices, templateServices } from './session/services.ts'
