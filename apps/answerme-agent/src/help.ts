export const help = `answerme-agent - answers questions about the files in a folder

Usage
  answerme-agent [options] "question"    answer one question
  ... | answerme-agent [options] "..."   the same, about what is piped in
  answerme-agent [options]               open a prompt (or read the question from a pipe)
  answerme-agent sessions [WORDS]        list the sessions that were kept, those with words in them
                                         (--all: those of sub-agents, too)
  answerme-agent sessions delete ID      delete one
  answerme-agent sessions title ID TEXT  give one another title
  answerme-agent serve                   the sessions in a browser and over HTTP, and an endpoint for clients of
                                         OpenAI, until ctrl-C; prints the address
  answerme-agent serve --restate URL     one worker of many: runs sessions for a Restate server, with their logs in a
                                         PostgreSQL (--store) and their files as --workspace says, until ctrl-C
  answerme-agent config                  print the settings and where they come from
  answerme-agent doctor                  print what this machine can run, and which model would answer

Options
  -m, --model MODEL   a Hugging Face GGUF repo (owner/repo, owner/repo:Q4_K_M), the path of a .gguf file,
                      openai:MODEL or anthropic:MODEL; without it, and without a key in the environment, a
                      small demonstration model answers, which looks things up in files, and is often wrong
      --provider NAME anthropic, openai, openai-responses or local (this machine): whose model --model is, or
                      else whose usual one
  -r, --root FOLDER   the folder that the tools may see (default: the current one)
  -y, --yes           change files and run commands without asking (without a terminal neither is done otherwise)
      --read-only     offer no tool that changes something
  -c, --continue      go on with the newest session about the folder
      --resume [ID]   go on with that session (how its id begins is enough), or with one of a list
      --no-keep       do not keep this session
  -p, --print         print the answer and nothing else
      --json          print events as JSON lines
      --debug         print stack traces
      --port PORT     serve: where to listen (default: 4117; 0 for any that is free)
      --host ADDRESS  serve: for whom to listen (default: 127.0.0.1, this machine alone)
      --restate URL   serve: the ingress of a Restate server, e.g. http://127.0.0.1:8080; with it also:
      --restate-admin URL   its admin interface (default: port 9070 there); none: you register the worker
      --store URL           the PostgreSQL of all workers (or ANSWERME_STORE)
      --workspace WHERE     volume: every worker has the folder at the same place; worker:NAME: only those of that name
      --name NAME           the agent's name in Restate (default: answerme)
      --release TEXT        of what it is made of; another may run beside it (default: the program's version)
      --url URL             how Restate reaches the worker, or what stands before several (default: host and port)
      --force               registers it in place of what was at that address
  -h, --help          print this
  -v, --version       print the version

Examples
  answerme-agent --root examples/tour "What is the port in config.ini?"
  answerme-agent --model unsloth/gemma-4-E2B-it-GGUF "What does this project do?"

Settings, from the first that has one: the options, the environment, answerme.json in the folder, then
~/.config/answerme/answerme.json. For example: { "model": "unsloth/gemma-4-E2B-it-GGUF", "permission": "readOnly" }
The latter may name services that search the web (web_search) and make images and videos (image_gen, video):
{ "services": { "search": { "baseUrl": "http://localhost:8888" }, "images": { "baseUrl": "https://api.openai.com/v1",
"apiKey": "\${OPENAI_API_KEY}" } } }

Environment
  ANSWERME_MODEL, ANSWERME_PERMISSION,
  ANSWERME_MAX_STEPS, ANSWERME_KEEP_SESSIONS    settings
  ANTHROPIC_API_KEY, OPENAI_API_KEY             keys of models in the cloud
  ANTHROPIC_BASE_URL, OPENAI_BASE_URL           another server that speaks as they do
  HF_TOKEN, HF_ENDPOINT, HF_HUB_OFFLINE,
  HF_HOME, HF_HUB_CACHE                         as every Hugging Face tool reads them
  ANSWERME_TOKEN                                the token of serve (default: a new one at each start)
  ANSWERME_STORE                                the PostgreSQL of serve --restate, with its password
  NO_COLOR                                      no colour

Exit codes
  0 answered   1 the turn failed   2 usage or configuration   3 no model or provider   4 not permitted
  130 interrupted
`;
