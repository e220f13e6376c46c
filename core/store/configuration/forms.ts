import type { StoredSecrets, StoredSettings } from '@dispatch/host'
import type { PlainForm, Tables } from '@dispatch/tables'
import type { Selectable } from 'kysely'

/** Settings in the form of a version of a provider. `version`: in which they were written; null: an older release has not kept that. */
export type StoredForm = StoredSettings & { version: string | null }

/** Forms that are kept beside the settings of a configuration. */
const maxForms = 8

type Row = Selectable<Tables['configurations']>

/** The columns with the other forms of a configuration, the newest first. */
export function formColumns (forms: readonly StoredForm[]): FormColumns {
  const [before, ...others] = forms.slice(0, maxForms)
  return {
    settings_before: before === undefined ? null : JSON.stringify(before.plain),
    secrets_before: before === undefined ? null : JSON.stringify(before.secrets),
    version_before: before?.version ?? null,
    forms: others.length === 0 ? null : JSON.stringify(others.map(({ version, plain }): PlainForm => ({ version, plain }))),
    form_secrets: others.length === 0 ? null : JSON.stringify(others.map(({ secrets }): StoredSecrets => secrets))
  }
}

type FormColumns = Record<'settings_before' | 'secrets_before' | 'version_before' | 'forms' | 'form_secrets', string | null>

/** The other forms of the configuration of a row, the newest first. */
export function formsIn (row: Row): StoredForm[] {
  const { settings_before: plain, secrets_before: secrets, version_before: version, forms, form_secrets: others } = row
  const before = plain === null || secrets === null ? [] : [{ version, plain, secrets }]
  return [...before, ...(forms ?? []).map((form, index) => ({ ...form, secrets: others?.[index] ?? {} }))]
}
