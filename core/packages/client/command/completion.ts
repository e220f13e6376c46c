/** What there is to complete: each command with its words. */
export const commands: Readonly<Record<string, readonly string[]>> = {
  login: [],
  send: [],
  validate: [],
  batch: [],
  list: [],
  show: [],
  tail: [],
  retry: [],
  listen: [],
  trigger: [],
  templates: ['pull', 'push', 'preview'],
  types: [],
  mcp: [],
  completion: ['bash', 'zsh', 'fish']
}

/** How many words a command takes, where it is not one. */
export const maxWords: Readonly<Record<string, number>> = {
  login: 0,
  list: 0,
  listen: 0,
  types: 0,
  mcp: 0,
  send: 2,
  validate: 2,
  batch: 2,
  templates: 2
}

const options = ['--url', '--profile', '--json', '--async', '--sandbox', '--strict', '--key', '--status', '--limit', '--data', '--out',
  '--common', '--mapping', '--valid', '--device', '--forward', '--help', '--version']

/** In which state a dispatch can be. */
const statuses = ['queued', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled']

const words = (list: readonly string[]): string => list.join(' ')
const cases = Object.entries(commands).filter(([, list]) => list.length > 0)

/** The script by which a shell completes the command. */
export const completions: Readonly<Record<string, string>> = {
  bash: `_dispatch () {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "\${COMP_WORDS[COMP_CWORD-1]}" = --profile ]; then COMPREPLY=( $(compgen -W "$(dispatch completion profiles)" -- "$word") ); return; fi
  if [ "\${COMP_WORDS[COMP_CWORD-1]}" = --status ]; then COMPREPLY=( $(compgen -W "${words(statuses)}" -- "$word") ); return; fi
  case "$word" in -*) COMPREPLY=( $(compgen -W "${words(options)}" -- "$word") ); return ;; esac
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=( $(compgen -W "${words(Object.keys(commands))}" -- "$word") ); return; fi
  if [ "$COMP_CWORD" -eq 2 ]; then
    case "\${COMP_WORDS[1]}" in
      send|validate|batch) COMPREPLY=( $(compgen -W "$(dispatch completion services 2>/dev/null)" -- "$word") ); return ;;
      trigger) COMPREPLY=( $(compgen -W "$(dispatch completion events 2>/dev/null)" -- "$word") ); return ;;
${cases.map(([name, list]) => `      ${name}) COMPREPLY=( $(compgen -W "${words(list)}" -- "$word") ); return ;;`).join('\n')}
    esac
  fi
  COMPREPLY=( $(compgen -f -- "$word") )
}
complete -F _dispatch dispatch
`,
  zsh: `#compdef dispatch
_dispatch () {
  if [[ "$words[CURRENT-1]" == --profile ]]; then compadd -- \${(f)"$(dispatch completion profiles)"}; return; fi
  if [[ "$words[CURRENT-1]" == --status ]]; then compadd ${words(statuses)}; return; fi
  if (( CURRENT == 2 )); then compadd ${words(Object.keys(commands))}; return; fi
  if [[ "$PREFIX" == -* ]]; then compadd -- ${words(options)}; return; fi
  if (( CURRENT == 3 )); then
    case "$words[2]" in
      send|validate|batch) compadd -- \${(f)"$(dispatch completion services 2>/dev/null)"}; return ;;
      trigger) compadd -- \${(f)"$(dispatch completion events 2>/dev/null)"}; return ;;
${cases.map(([name, list]) => `      ${name}) compadd ${words(list)}; return ;;`).join('\n')}
    esac
  fi
  _files
}
if [[ "$funcstack[1]" == _dispatch ]]; then _dispatch "$@"; else compdef _dispatch dispatch; fi
`,
  fish: `complete -c dispatch -n __fish_use_subcommand -f -a '${words(Object.keys(commands))}'
${cases.map(([name, list]) => `complete -c dispatch -n '__fish_seen_subcommand_from ${name}' -a '${words(list)}'`).join('\n')}
${
    options.filter((option) => option !== '--profile' && option !== '--status').map((option) =>
      `complete -c dispatch -l ${option.slice(2)}`
    ).join('\n')
  }
complete -c dispatch -n '__fish_seen_subcommand_from send validate batch' -a '(dispatch completion services 2>/dev/null)'
complete -c dispatch -n '__fish_seen_subcommand_from trigger' -f -a '(dispatch completion events 2>/dev/null)'
complete -c dispatch -l status -x -a '${words(statuses)}'
complete -c dispatch -l profile -x -a '(dispatch completion profiles)'
`
}
