/**
 * Python code that runs a piece of code inside the interpreter: one scope for all pieces of a request, the value of the
 * last expression as in a notebook, and exceptions as a traceback of the code alone. The answer is one word, a line
 * break and the text.
 */
export const pythonRunner = String.raw`
def _make_runner():
    import asyncio, linecache, os, random, sys, traceback, types
    from pyodide.code import eval_code_async

    streams = (sys.stdout, sys.stderr)
    for stream in streams:
        stream.reconfigure(line_buffering=True, errors='backslashreplace')
    random.seed()
    # Of the way to JavaScript only what the event loop asks for stays.
    from pyodide_js._api import config, scheduleCallback
    for name in list(sys.modules):
        if name == 'js' or name.split('.')[0] == 'pyodide_js':
            del sys.modules[name]
    bare, interface = types.ModuleType('pyodide_js'), types.ModuleType('pyodide_js._api')
    interface.scheduleCallback = scheduleCallback
    interface.config = types.SimpleNamespace(enableRunUntilComplete=config.enableRunUntilComplete)
    sys.modules['pyodide_js'], sys.modules['pyodide_js._api'] = bare, interface
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ not in ('JsFinder', 'RepodataPackagesFinder', 'UnvendoredStdlibFinder')]
    main = types.ModuleType('__main__')
    sys.modules['__main__'] = main
    format_exception = traceback.format_exception
    describe_value, text_of, length_of = repr, str, len
    number = 0
    failed_inside = False

    def describe(error):
        trace = error.__traceback__
        while trace is not None and not trace.tb_frame.f_code.co_filename.startswith('<code'):
            trace = trace.tb_next
        text = ''.join(format_exception(type(error), error, trace))
        if isinstance(error, ModuleNotFoundError):
            text += "Only Python's standard library is installed here, and nothing can be downloaded: there is no network.\n"
        return text

    async def run(code, limit):
        nonlocal number, failed_inside
        number += 1
        name = f'<code {number}>'
        linecache.cache[name] = (length_of(code), None, code.splitlines(True), name)
        try:
            value = await eval_code_async(code, globals=main.__dict__, filename=name)
            return 'finished\n' + ('' if value is None else text_of(describe_value(value))[:limit])
        except SystemExit as exit:
            return 'finished\n' if exit.code in (None, 0) else 'raised\nSystemExit: ' + describe_value(exit.code)[:limit]
        except BaseException as error:
            # The interpreter itself reports a fault of its own so: after want of memory in a bad place it may do that for ever.
            failed_inside = failed_inside or is_kind(error, fault)
            text = describe(error)
            return 'raised\n' + (text if length_of(text) <= limit else text[: limit // 2] + '\n…\n' + text[-(limit // 2) :])
        finally:
            # Tasks end with the run that began them: nobody would hear of them.
            for task in all_tasks():
                if task is not current_task():
                    task.cancel()
            for stream in {sys.stdout, sys.stderr, *streams}:
                try:
                    stream.flush()
                except BaseException:
                    pass
            sys.stdout, sys.stderr = streams

    def is_broken():
        try:
            if failed_inside or evaluate(translate('[six * 7 for six in (6,)][0]', '<probe>', 'eval')) != 42:
                return True
            for number in (1, 2):
                describe_file(number)
            return any(stream.closed for stream in streams)
        except BaseException:
            return True

    # What would end the process without a word ends the run instead.
    def leave(status=0):
        raise SystemExit(status)

    def abort():
        raise SystemExit('aborted')

    evaluate, translate, is_kind, fault = eval, compile, isinstance, SystemError
    describe_file, all_tasks, current_task = os.fstat, asyncio.all_tasks, asyncio.current_task
    os._exit, os.abort = leave, abort
    return run, is_broken

_run, _is_broken = _make_runner()
del _make_runner
`;
