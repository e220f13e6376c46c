import { unescaped } from '../../../../../test/plugins/support/console.ts'

export type Fields = Record<string, string>

/** What a browser would send for the form of a page, with the button of this value. */
export function formIn (page: string, button: string): Fields {
  const form = /<form id="template"[^]*<\/form>/.exec(page)?.[0] ?? ''
  const found = [
    ...[...form.matchAll(/<input[^>]*>/g)].map(([tag]) => tag).filter((tag) => !tag.includes('type="checkbox"') || tag.includes(' checked'))
      .map((tag) => [/ name="([^"]*)"/.exec(tag)?.[1], / value="([^"]*)"/.exec(tag)?.[1]]),
    ...[...form.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>\n([^]*?)<\/textarea>/g)].map(([, name, text]) => [name, text]),
    ...[...form.matchAll(/<select[^>]* name="([^"]*)"[^>]*>([^]*?)<\/select>/g)].map(
      ([, name, options = '']) => [name, (/value="([^"]*)" selected/.exec(options) ?? /value="([^"]*)"/.exec(options))?.[1]]
    )
  ]
  return { ...Object.fromEntries(found.map(([name = '', value = '']) => [name, unescaped(value)])), do: button }
}

/** The source that the form of a page has. */
export const sourceIn = (page: string): string => formIn(page, '')['source'] ?? ''
