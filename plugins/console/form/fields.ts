import { randomUUID } from 'node:crypto'
import { type Html, html } from '../../html.ts'

/** What every field of a form has. `wrong` is what is said of its value: see `sentenceOf`. */
export type Field = {
  name: string
  label: string
  value?: string | undefined
  help?: string | undefined
  /** Stands after the label: that the field may be left out, or that a secret is set. */
  note?: string | undefined
  wrong?: readonly Html[] | undefined
  /** The console's own sentence about its value, in the language of the reader. */
  refused?: string | undefined
  required?: true | undefined
  /** It is shown, and sent as it is. */
  readonly?: true | undefined
  /** The one field that somebody comes to the page for. */
  autofocus?: true | undefined
  /** What a value may look like. */
  placeholder?: string | undefined
}

/** `isSought`: its value goes into the address of a page, which has room for a few characters only. */
type Line = { type?: string, autocomplete?: string, suggestions?: readonly Option[], isSought?: boolean }

/** How many characters somebody looks for at most. */
export const longestSought = 200

/** A text of one line. `type` is that of the HTML element. `suggestions` are offered while one types; any other value may be typed, too. */
export function textField ({ type = 'text', autocomplete = 'off', suggestions = [], isSought = type === 'search', ...field }:
  & Field
  & Line): Html
{
  const list = `${idOf(field)}-list`
  const [own, offered] = suggestions.length === 0
    ? [html``, html``]
    : [html` list="${list}"`,
      html`<datalist id="${list}">${suggestions.map(({ value, label }) => html`<option value="${value}">${label}</option>`)}</datalist>`]
  return framed(field,
    html`<input id="${idOf(field)}" name="${field.name}" type="${type}" value="${field.value ?? ''}" autocomplete="${autocomplete}"${own}${
      isSought ? html` maxlength="${String(longestSought)}"` : html``
    }${exampleOf(field)}${described(field)}>${offered}`)
}

/** A text of several lines. */
export function linesField (field: Field): Html {
  // A line break at the beginning is not part of the value (HTML, 13.1.2.5).
  return framed(field, html`<textarea id="${idOf(field)}" name="${field.name}" spellcheck="false"${exampleOf(field)}${described(field)}>
${field.value ?? ''}</textarea>`)
}

export type Option = { value: string, label: string }

/** One of several choices; `none` is the words for no choice. */
export function choiceField ({ options, none, ...field }: Field & { options: readonly Option[], none?: string | undefined }): Html {
  const all = none === undefined ? options : [{ value: '', label: none }, ...options]
  return framed(field,
    html`<select id="${idOf(field)}" name="${field.name}"${described(field)}>${
      all.map(({ value, label }) =>
        html`<option value="${value}"${value === (field.value ?? '') ? html` selected` : html``}>${label}</option>`
      )
    }</select>`)
}

/** A yes or no. */
export function checkField (field: Field & { checked: boolean }): Html {
  return html`<div class="field"><div class="choice"><input id="${idOf(field)}" type="checkbox" name="${field.name}" value="true"${
    field.checked ? html` checked` : html``
  }${described(field)}><label for="${idOf(field)}">${field.label}</label></div>${help(field)}${wrong(field)}</div>`
}

/** A choice among a few, all of them in sight. */
export function radioField ({ name, label, value, options }: Pick<Field, 'name' | 'label' | 'value'> & {
  options: readonly Option[]
}): Html {
  return html`<fieldset><legend>${label}</legend>${
    options.map((option, index) =>
      html`<div class="choice"><input type="radio" id="f-${name}-${String(index)}" name="${name}" value="${option.value}" required${
        option.value === value ? html` checked` : html``
      }><label for="f-${name}-${String(index)}">${option.label}</label></div>`
    )
  }</fieldset>`
}

/** Several choices out of a few, all of them in sight. */
export function manyField ({ options, values, ...field }: Omit<Field, 'value'> & {
  options: readonly Option[]
  values: readonly string[]
}): Html {
  return html`<fieldset${described(field)}><legend>${field.label}</legend>${help(field)}${
    options.map(({ value, label }, index) =>
      html`<div class="choice"><input type="checkbox" id="${idOf(field)}-${String(index)}" name="${field.name}" value="${value}"${
        values.includes(value) ? html` checked` : html``
      }><label for="${idOf(field)}-${String(index)}">${label}</label></div>`
    )
  }${wrong(field)}</fieldset>`
}

function framed (field: Field, control: Html): Html {
  return html`<div class="field"><label for="${idOf(field)}">${field.label}${
    field.note === undefined ? html`` : html` <small>${field.note}</small>`
  }</label>${help(field)}${control}${wrong(field)}</div>`
}

function exampleOf ({ placeholder }: Field): Html {
  return placeholder === undefined ? html`` : html` placeholder="${placeholder}"`
}

function idOf ({ name }: Field): string {
  return `f-${name}`
}

function help (field: Field): Html {
  return field.help === undefined ? html`` : html`<p class="help" id="${idOf(field)}-help">${field.help}</p>`
}

function wrong (field: Field): Html {
  const { wrong: sentences = [], refused } = field
  if (refused !== undefined) return html`<p class="wrong" id="${idOf(field)}-wrong">${refused}</p>`
  return sentences.length === 0 ? html`` : html`<p class="wrong" id="${idOf(field)}-wrong">${spaced(sentences)}</p>`
}

/** Sentences one behind the other. */
export function spaced (sentences: readonly Html[]): Html {
  return html`${sentences.map((sentence, index) => html`${index === 0 ? '' : ' '}${sentence}`)}`
}

function described (field: Field): Html {
  const isWrong = field.refused !== undefined || (field.wrong ?? []).length > 0
  const ids = [...(field.help === undefined ? [] : [`${idOf(field)}-help`]), ...(isWrong ? [`${idOf(field)}-wrong`] : [])]
  return html`${field.required === true ? html` required` : html``}${field.readonly === true ? html` readonly` : html``}${
    field.autofocus === true ? html` autofocus` : html``
  }${isWrong ? html` aria-invalid="true"` : html``}${ids.length === 0 ? html`` : html` aria-describedby="${ids.join(' ')}"`}`
}

/** The name of the hidden field of {@link onceField}. */
const once = ':once'

/** Makes a form count once, however often it is sent; with the key of a form that was sent, the two count as one. */
export function onceField (key: string = randomUUID()): Html {
  return html`<input type="hidden" name="${once}" value="${key}">`
}

/** The idempotency key of a form that was sent. */
export function onceIn (body: URLSearchParams): string | undefined {
  const key = body.get(once)
  return key === null || !/^[\w-]{1,40}$/.test(key) ? undefined : key
}
