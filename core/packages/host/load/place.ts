import { pathToFileURL } from 'node:url'

/** File and line, such as `index.js:3`, of the first place in the folder that a stack, or what Node prints of an error, names. */
export function placeIn (text: string, folder: string): string | undefined {
  const start = [pathToFileURL(`${folder}/`).href, `${folder}/`].map((prefix) => RegExp.escape(prefix)).join('|')
  const [, file, line] = new RegExp(`(?:${start})([^\\s?:)]+)(?:\\?[^\\s:)]*)?:(\\d+)`).exec(text) ?? []
  return file === undefined || line === undefined ? undefined : `${file}:${line}`
}
