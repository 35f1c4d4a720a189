from delta_upkeep.fleet.cli import main
raise SystemExit(main())
