import { type ConsolePart, serviceNames, services } from '@dispatch/services'

/** What the services are called, their fields and their statuses. */
export function serviceWords (language: keyof ConsolePart['words']): Readonly<Record<string, string>> {
  return Object.assign({}, ...serviceNames.map((name) => services[name].console.words[language])) as Record<string, string>
}
