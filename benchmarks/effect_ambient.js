// What real pages move by themselves, put into a page on request: each returns at once and keeps moving.
(() => {
  const put = (tag, css, inner = "") => {
    const e = document.createElement(tag);
    e.setAttribute("data-ambient", ""); e.style.cssText = css; e.innerHTML = inner;
    document.body.append(e);
    return e;
  };
  const at = (x, y) => `position:fixed;left:${x}px;top:${y}px;z-index:99999;pointer-events:none;`;
  const style = css => put("style", "", css);
  window.ambient = {
    spinner: (x, y) => { style("@keyframes turn{to{transform:rotate(360deg)}}");
      put("div", at(x, y) + "width:36px;height:36px;box-sizing:border-box;border:5px solid #ccc;border-top-color:#27c;border-radius:50%;animation:turn 1s linear infinite"); },
    clock: (x, y) => { const e = put("div", at(x, y) + "font:14px monospace;background:#fff;color:#222;padding:2px");
      let t = 43195; setInterval(() => { t++; e.textContent = new Date(t * 1000).toISOString().slice(11, 19); }, 250); },
    video: (x, y) => { const e = put("canvas", at(x, y)); e.width = 240; e.height = 135;
      const g = e.getContext("2d"); let n = 0;
      setInterval(() => { n++; for (let i = 0; i < 240; i += 8) for (let j = 0; j < 135; j += 8) {
        g.fillStyle = `hsl(${(i + j + n * 23) % 360} 70% ${40 + 20 * Math.sin((i * 3 + j + n * 9) / 40)}%)`; g.fillRect(i, j, 8, 8); } }, 66); },
    pulse: (x, y) => { style("@keyframes pulse{50%{opacity:.25}}");
      put("div", at(x, y) + "width:160px;height:18px;border-radius:4px;background:#9aa;animation:pulse 1.1s ease-in-out infinite"); },
    bar: (x, y) => { style("@keyframes stripes{to{background-position:24px 0}}");
      put("div", at(x, y) + "width:220px;height:14px;background:repeating-linear-gradient(45deg,#27c 0 8.5px,#6af 8.5px 17px);background-size:24px 24px;animation:stripes .8s linear infinite"); },
    marquee: (x, y) => { const e = put("div", at(x, y) + "width:260px;height:20px;overflow:hidden;font:14px sans-serif;background:#ffe;white-space:nowrap", "<span style='position:relative'>Orders placed before noon leave the same day.</span>");
      let p = 0; setInterval(() => { p = (p + 3) % 260; e.firstChild.style.left = -p + "px"; }, 50); },
  };
  return 1;
})();
