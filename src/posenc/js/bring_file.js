// A file that ships with posenc-lab, as an ArrayBuffer: the page's host has it beside the page, or else the kernel sends it.

const PATIENCE = 30_000; // milliseconds

export function bringFile(model, name) {
  return model.bring ? model.bring(name) : fromKernel(model, name);
}

function fromKernel(model, name) {
  return new Promise((done, failed) => {
    const end = (settle, value) => {
      clearTimeout(late);
      model.off("msg:custom", hear);
      settle(value);
    };
    const hear = ({ brought }, [view]) => {
      if (brought === name) end(done, view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
    };
    const late = setTimeout(() => end(failed, new Error("no answer")), PATIENCE);
    model.on("msg:custom", hear);
    model.send({ bring: name });
  });
}
