import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The name of a new template, the directory of its folder, and the directory whose numbers are already used. */
export type NewTemplate = { name: string, directory: string, taken: string }

/** Numbers from here on are for your own templates. Smaller numbers are reserved for the shipped ones. */
const firstNumber = 100
const lastNumber = 999

/** Writes the folder of a new, valid template and resolves to its path. Throws an Error with one sentence when it cannot. */
export async function scaffoldTemplate ({ name, directory, taken }: NewTemplate): Promise<string> {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    throw new Error(`"${name}" is no name of a template: lowercase letters, digits and dashes, beginning with a letter.`)
  }
  const folder = join(directory, name)
  if (existsSync(folder)) throw new Error(`${folder} is there already: choose another name, or remove the folder.`)
  const numbers = new Set([...await numbersIn(taken), ...await numbersIn(directory)])
  const id = Array.from({ length: lastNumber - firstNumber + 1 }, (_, index) => firstNumber + index).find((number) => !numbers.has(number))
  if (id === undefined) throw new Error(`All numbers from ${firstNumber} to ${lastNumber} are taken.`)
  await mkdir(folder, { recursive: true })
  for (const [file, text] of Object.entries(filesOf(name, id))) await writeFile(join(folder, file), text)
  return folder
}

/** The numbers of the templates in a directory. */
async function numbersIn (directory: string): Promise<number[]> {
  const folders = existsSync(directory) ? await readdir(directory, { withFileTypes: true }) : []
  const files = folders.map(({ name }) => join(directory, name, 'template.yaml')).filter((file) => existsSync(file))
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  return texts.flatMap((text) => Number(/^id: *(\d+)$/m.exec(text)?.[1] ?? 'NaN')).filter((id) => !Number.isNaN(id))
}

function filesOf (name: string, id: number): Record<string, string> {
  const title = name.replaceAll('-', ' ').replace(/^./, (letter) => letter.toUpperCase())
  return {
    'template.yaml': yamlOf(title, id),
    'schema.json': json(schemaOf(title)),
    'sample.json': json(sample),
    'sample.fr.json': json({ language: 'fr', ...sample, subject: 'Ce qui a été livré', closing: 'Merci.' }),
    'README.md': `# ${title} (${id})

What the template is for, and its data: required are \`number\`, \`date\`, \`sender.name\`, \`recipient.name\`, \`subject\` and \`lines\`.

\`npm run template preview ${name}\` makes the samples into every format; \`npm run template check ${name}\` finds mistakes. The guide is \`templates/README.md\`
of Document Dispatch.
`
  }
}

const yamlOf = (title: string, id: number): string =>
  `id: ${id}
name: ${title}
description: What it is for, in a sentence.
service: file
locale: "{{ language | default: 'en-GB' }}"
currency: "{{ currency | default: 'EUR' }}"
title: "{{ subject }}"
author: "{{ sender.name }}"

page: { size: auto, margins: { top: 20, right: 20, bottom: 14, left: 20 } }
style: { font: sans, size: 9, accent: '#1d4e89' }

# Every word that is not in the data, in every language.
texts:
  en:
    number: Number
    date: Date
    to: For
    description: Description
    quantity: Quantity
    amount: Amount
    total: Total
    page: "Page {{ page }} of {{ pages }}"
  fr:
    number: Numéro
    date: Date
    to: Pour
    description: Désignation
    quantity: Quantité
    amount: Montant
    total: Total
    page: "Page {{ page }} sur {{ pages }}"

footer:
  - rule: { thickness: 0.4, color: '#d5dbe1' }
  - columns:
      items:
        - { width: 3, do: [{ paragraph: { text: "{{ sender.name }}", size: 7, color: muted } }] }
        - { width: 1, do: [{ paragraph: { text: "{{ t.page }}", size: 7, color: muted, align: right } }] }

body:
  - heading: { text: "{{ subject }}", color: accent }
  - keyValues:
      labels: 1
      values: 4
      entries:
        - { label: "{{ t.number }}", value: number }
        - { label: "{{ t.date }}", value: date, type: date }
        - { label: "{{ t.to }}", value: recipient.name }
  - spacer: 6
  - table:
      each: lines
      as: line
      columns:
        - { header: "{{ t.description }}", value: line.description, width: 6 }
        - { header: "{{ t.quantity }}", value: line.quantity, type: number, width: 2 }
        - { header: "{{ t.amount }}", value: line.total, type: money, width: 2 }
      totals:
        - { label: "{{ t.total }}", value: total, type: money, strong: true, if: total }
  - spacer: 4
  - if: closing
    then:
      - paragraph: "{{ closing }}"
`

function schemaOf (title: string): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    type: 'object',
    required: ['number', 'date', 'sender', 'recipient', 'subject', 'lines'],
    properties: {
      language: {
        type: 'string',
        maxLength: 20,
        pattern: '^(en|fr)(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$',
        description: 'en-GB unless given.'
      },
      number: { type: 'string', minLength: 1, maxLength: 100 },
      date: { $ref: 'dispatch:invoice#/$defs/date' },
      currency: { type: 'string', pattern: '^[A-Z]{3}$', description: 'An ISO 4217 code; EUR unless given.' },
      sender: { $ref: 'dispatch:invoice#/$defs/party', required: ['name'] },
      recipient: { $ref: 'dispatch:invoice#/$defs/party', required: ['name'] },
      subject: { type: 'string', minLength: 1, maxLength: 200 },
      lines: {
        type: 'array',
        maxItems: 1000,
        items: {
          type: 'object',
          required: ['description'],
          properties: {
            description: { type: 'string', minLength: 1, maxLength: 2000 },
            quantity: { $ref: 'dispatch:invoice#/$defs/amount' },
            total: { $ref: 'dispatch:invoice#/$defs/amount' }
          }
        }
      },
      total: { $ref: 'dispatch:invoice#/$defs/amount' },
      closing: { type: 'string', maxLength: 2000 }
    }
  }
}

const sample = {
  number: 'N-1',
  date: '2026-03-14',
  sender: { name: 'Northwind' },
  recipient: { name: 'Ada Lovelace' },
  subject: 'What was delivered',
  lines: [{ description: 'Tea', quantity: 2, total: '6.25' }, { description: 'Cups', quantity: 4, total: '18.00' }],
  total: '24.25',
  closing: 'Thank you.'
}

function json (value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
