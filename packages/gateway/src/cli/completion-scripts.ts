export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * A script for the shell. All of them hand the words typed so far to `complete`, which answers with one candidate a
 * line, a tab and what it means; an answer of `:files` alone leaves it to the shell to complete a file.
 */
export function completionScript(shell: Shell): string {
  return scripts[shell].trim();
}

const scripts: Record<Shell, string> = {
  bash: String.raw`
_sallyport() {
  local answer line typed=${'${COMP_LINE:0:COMP_POINT}'}
  # The shell would split arguments such as key=value; blanks are what separates them.
  local words
  read -ra words <<<"$typed"
  [[ $typed == *[[:blank:]] ]] && words+=('')
  COMPREPLY=()
  answer=$(sallyport complete -- "${'${words[@]:1}'}" 2>/dev/null) || return
  if [[ $answer == :files ]]; then
    compopt -o default
    return
  fi
  while IFS=$'\t' read -r line _; do
    [[ -n $line ]] && COMPREPLY+=("$line")
  done <<<"$answer"
  [[ ${'${#COMPREPLY[@]}'} -eq 1 && ${'${COMPREPLY[0]}'} == *= ]] && compopt -o nospace
}
complete -F _sallyport sallyport
`,
  zsh: String.raw`
#compdef sallyport
_sallyport() {
  local answer line
  local -a candidates
  answer=$(sallyport complete -- "${'${(@)words[2,CURRENT]}'}" 2>/dev/null) || return
  if [[ $answer == :files ]]; then
    _files
    return
  fi
  for line in ${'${(f)answer}'}; do
    candidates+=("${"${${line%%$'\\t'*}//:/\\\\:}"}:${"${line#*$'\\t'}"}")
  done
  _describe sallyport candidates
}
if [[ $funcstack[1] == _sallyport ]]; then
  _sallyport "$@"
else
  compdef _sallyport sallyport
fi
`,
  fish: String.raw`
function __sallyport_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l answer (sallyport complete -- $words[2..-1] 2>/dev/null)
  if test "$answer" = :files
    __fish_complete_path (commandline -ct)
  else
    printf '%s\n' $answer
  end
end
complete -c sallyport -f -a '(__sallyport_complete)'
`,
};
